"""Published training steps, rebuilt in JAX: what bench_predicted.py compiles and predicts.

Each is a function of one device's batch that gives its step, its state and its batch as shapes.
Data-parallel steps sum their gradients over the axis `d`; decoders are sharded by the compiler.
"""

# mypy: ignore-errors
# pyright: basic
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

F32, BF16, I32 = jnp.float32, jnp.bfloat16, jnp.int32
Shape = jax.ShapeDtypeStruct
STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))


def momentum(parameters: Any, moment: Any, gradients: Any) -> Any:
    moment = jax.tree.map(lambda m, g: 0.9 * m + g, moment, gradients)
    return jax.tree.map(lambda p, m: p - 0.1 * m, parameters, moment), moment


def moments(first: Any, second: Any, gradients: Any) -> Any:
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    return first, jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)


def adam(parameters: Any, first: Any, second: Any, gradients: Any) -> Any:
    first, second = moments(first, second, gradients)
    moved = jax.tree.map(
        lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), parameters, first, second
    )
    return moved, first, second


def lamb(parameters: Any, first: Any, second: Any, gradients: Any) -> Any:
    first, second = moments(first, second, gradients)

    def moved(p: Any, m: Any, v: Any) -> Any:
        update = m / (jnp.sqrt(v) + 1e-6) + 0.01 * p
        ratio = jnp.linalg.norm(p.reshape(-1)) / (jnp.linalg.norm(update.reshape(-1)) + 1e-9)
        return p - 1e-3 * ratio * update

    return jax.tree.map(moved, parameters, first, second), first, second


def cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


def convolution(x: Any, kernel: Any, stride: int = 1) -> Any:
    return lax.conv_general_dilated(
        x, kernel.astype(x.dtype), (stride, stride), "SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )  # fmt: skip


def batch_norm(x: Any, scale_bias: Any) -> tuple[Any, Any]:
    mean = jnp.mean(x, (0, 1, 2), dtype=F32)
    variance = jnp.mean(jnp.square(x.astype(F32)), (0, 1, 2)) - mean * mean
    scale = scale_bias["scale"] * lax.rsqrt(variance + 1e-5)
    shifted = x.astype(F32) * scale + (scale_bias["bias"] - mean * scale)
    return shifted.astype(x.dtype), (mean, variance)


def resnet_blocks() -> list[tuple[str, int, int, int, int]]:
    """Name, kernel, channels in and out, and stride of each convolution, the stem first."""
    found, channels = [("stem", 7, 3, 64, 2)], 64
    for stage, (width, count) in enumerate(STAGES):
        for block in range(count):
            at, stride = f"{stage}.{block}", 2 if stage and not block else 1
            if not block:
                found.append((f"{at}.short", 1, channels, 4 * width, stride))
            found += [
                (f"{at}.a", 1, channels, width, 1), (f"{at}.b", 3, width, width, stride),
                (f"{at}.c", 1, width, 4 * width, 1),
            ]  # fmt: skip
            channels = 4 * width
    return found


def resnet50(batch: int) -> tuple[Any, Any, Any]:
    """ResNet-50 v1.5 without convolution bias, SGD with momentum, L2 of all weights."""
    blocks = {name: (kernel, i, o, s) for name, kernel, i, o, s in resnet_blocks()}
    parameters: dict[str, Any] = {"fc": Shape((2048, 1000), F32), "fc bias": Shape((1000,), F32)}
    for name, (kernel, i, o, _) in blocks.items():
        norm = {"scale": Shape((o,), F32), "bias": Shape((o,), F32)}
        parameters[name] = {"kernel": Shape((kernel, kernel, i, o), F32), "norm": norm}

    def loss(p: Any, given: Any) -> Any:
        images, labels = given
        statistics: list[Any] = []

        def layer(x: Any, name: str) -> Any:
            x, seen = batch_norm(convolution(x, p[name]["kernel"], blocks[name][3]),
                                 p[name]["norm"])  # fmt: skip
            statistics.append(seen)
            return x

        x = jax.nn.relu(layer(images.astype(BF16), "stem"))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        for name in [name.removesuffix(".a") for name in blocks if name.endswith(".a")]:
            short = layer(x, f"{name}.short") if f"{name}.short" in blocks else x
            inner = jax.nn.relu(layer(x, f"{name}.a"))
            inner = jax.nn.relu(layer(inner, f"{name}.b"))
            x = jax.nn.relu(layer(inner, f"{name}.c") + short)
        x = jnp.mean(x, (1, 2)).astype(BF16)
        logits = (x @ p["fc"].astype(BF16)).astype(F32) + p["fc bias"]
        decay = 5e-5 * sum(jnp.sum(w * w) for w in jax.tree.leaves(p))
        return cross_entropy(logits, labels) + decay, statistics

    def step(state: Any, given: Any) -> Any:
        p, moment = state
        (value, seen), gradients = jax.value_and_grad(loss, has_aux=True)(p, given)
        return momentum(p, moment, lax.psum(gradients, "d")), value, seen

    images = Shape((batch, 224, 224, 3), BF16)
    return step, (parameters, parameters), (images, Shape((batch,), I32))


def dense(x: Any, p: Any) -> Any:
    return x @ p["w"].astype(x.dtype) + p["b"].astype(x.dtype)


def layer_norm(x: Any, p: Any) -> Any:
    y = x.astype(F32)
    mean = y.mean(-1, keepdims=True)
    variance = jnp.square(y - mean).mean(-1, keepdims=True)
    return ((y - mean) * lax.rsqrt(variance + 1e-6) * p["s"] + p["b"]).astype(x.dtype)


def of(*shape: int) -> dict[str, Any]:
    return {"w": Shape(shape, F32), "b": Shape(shape[1:], F32)}


def norm(width: int) -> dict[str, Any]:
    return {"s": Shape((width,), F32), "b": Shape((width,), F32)}


def block(width: int, inner: int) -> dict[str, Any]:
    square = {name: of(width, width) for name in "qkvo"}
    return {**square, "i": of(width, inner), "f": of(inner, width), "l1": norm(width),
            "l2": norm(width)}  # fmt: skip


def dropped(x: Any, key: Any, rate: float = 0.1) -> Any:
    if key is None:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0).astype(
        x.dtype
    )


def attention(x: Any, p: Any, heads: int, mask: Any = None, key: Any = None) -> Any:
    batch, length, width = x.shape
    q, k, v = (dense(x, p[n]).reshape(batch, length, heads, width // heads) for n in "qkv")
    scores = jnp.einsum("blhc,bmhc->bhlm", q, k) / float(np.sqrt(width // heads))
    # BERT's official layers take the softmax in the type of their policy; big_vision in float32.
    scores = scores.astype(F32) if mask is None else scores + mask.astype(scores.dtype)
    shares = dropped(jax.nn.softmax(scores).astype(x.dtype), key)
    mixed = jnp.einsum("bhlm,bmhc->blhc", shares, v).reshape(batch, length, width)
    return dense(mixed, p["o"])


def bert_body(p: Any, ids: Any, types: Any, mask: Any, heads: int, key: Any, kind: Any) -> Any:
    x = p["words"].astype(kind)[ids] + p["places"].astype(kind)[None, : ids.shape[1]]
    x = layer_norm(x + p["types"].astype(kind)[types], p["norm"])
    hidden = (1 - mask.astype(F32))[:, None, None, :] * -1e9
    for number, each in enumerate(p["blocks"]):
        keys = jax.random.split(jax.random.fold_in(key, number), 3)
        x = layer_norm(x + dropped(attention(x, each, heads, hidden, keys[0]), keys[1]), each["l1"])
        inner = dense(jax.nn.gelu(dense(x, each["i"])), each["f"])
        x = layer_norm(x + dropped(inner, keys[2]), each["l2"])
    return x


def bert_parameters(layers: int, width: int, inner: int, words: int) -> dict[str, Any]:
    return {
        "words": Shape((words, width), F32), "places": Shape((512, width), F32),
        "types": Shape((2, width), F32), "norm": norm(width), "pool": of(width, width),
        "blocks": [block(width, inner) for _ in range(layers)], "cls": of(width, 2),
        "mlm": of(width, width), "mlm norm": norm(width), "mlm bias": Shape((words,), F32),
    }  # fmt: skip


def bert_glue(batch: int, length: int = 128) -> tuple[Any, Any, Any]:
    """BERT-base with a head of two classes in float32, Adam, dropout by Threefry."""
    parameters = bert_parameters(12, 768, 3072, 28996)

    def loss(p: Any, given: Any, key: Any) -> Any:
        ids, types, mask, labels = given
        x = bert_body(p, ids, types, mask, 12, key, F32)
        return cross_entropy(dense(jnp.tanh(dense(x[:, 0], p["pool"])), p["cls"]), labels)

    inputs = (*[Shape((batch, length), I32)] * 3, Shape((batch,), I32))
    return _with_optimizer(loss, adam), _state(parameters, 2), inputs


def _state(parameters: Any, words_of_key: int) -> Any:
    return parameters, parameters, parameters, Shape((words_of_key,), jnp.uint32)


def _with_optimizer(loss: Any, optimizer: Any) -> Any:
    def step(state: Any, given: Any) -> Any:
        p, first, second, key = state
        now, key = jax.random.split(key)
        value, gradients = jax.value_and_grad(loss)(p, given, now)
        return (*optimizer(p, first, second, lax.psum(gradients, "d")), key), value

    return step


def without_keys(loss: Any, optimizer: Any, summed_in: Any) -> Any:
    """A step that draws nothing; its gradients are summed over the devices in a type."""

    def step(state: Any, given: Any) -> Any:
        p, first, second = state
        value, gradients = jax.value_and_grad(loss)(p, given)
        gradients = jax.tree.map(lambda g: g.astype(summed_in), gradients)
        summed = jax.tree.map(lambda g: g.astype(F32), lax.psum(gradients, "d"))
        return optimizer(p, first, second, summed), value

    return step


def vit_small(batch: int) -> tuple[Any, Any, Any]:
    """ViT-S/16 in float32, Adam."""
    parameters = {
        "patch": Shape((16, 16, 3, 384), F32), "bias": Shape((384,), F32), "norm": norm(384),
        "blocks": [block(384, 1536) for _ in range(12)], "head": of(384, 1000),
    }  # fmt: skip

    def loss(p: Any, given: Any) -> Any:
        images, labels = given
        x = lax.conv_general_dilated(
            images, p["patch"], (16, 16), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = (x + p["bias"]).reshape(batch, 196, 384)
        for each in p["blocks"]:
            x = x + attention(layer_norm(x, each["l1"]), each, 6)
            x = x + dense(jax.nn.gelu(dense(layer_norm(x, each["l2"]), each["i"])), each["f"])
        logits = dense(layer_norm(x, p["norm"]).mean(1), p["head"])
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * labels, -1))

    inputs = Shape((batch, 224, 224, 3), F32), Shape((batch, 1000), F32)
    return without_keys(loss, adam, F32), (parameters, parameters, parameters), inputs


def product() -> tuple[Any, Any]:
    """A matrix product of 8192 x 8192 x 16384."""
    return jnp.matmul, (Shape((8192, 8192), BF16), Shape((8192, 16384), BF16))


def elementwise() -> tuple[Any, Any]:
    """5.37 GB read and as much written."""
    return lambda a: a * 2 + 1, (Shape((8192, 163840), F32),)


def broadcast() -> tuple[Any, Any]:
    """5.37 GB written."""
    return partial(jnp.broadcast_to, shape=(8192, 163840)), (Shape((163840,), F32),)


def all_reduce() -> tuple[Any, Any]:
    """5.37 GB from each device."""
    return partial(lax.psum, axis_name="d"), (Shape((8192, 163840), F32),)
