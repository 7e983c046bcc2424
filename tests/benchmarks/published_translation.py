"""A published step of a Transformer that translates, rebuilt in JAX (published_steps.py)."""

# mypy: ignore-errors
# pyright: basic
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.benchmarks.published_steps import (
    BF16,
    F32,
    I32,
    Shape,
    adam,
    block,
    dense,
    layer_norm,
    norm,
    of,
    without_keys,
)

WIDTH, INNER, HEADS, LAYERS, WORDS, LENGTH = 1024, 4096, 16, 6, 32768, 256


def _dropped(x: Any, rate: float = 0.1) -> Any:
    """Drawn as TensorFlow's `RandomUniform` is on a TPU, by the compiler's own means."""
    drawn = lax.rng_uniform(jnp.float32(0), jnp.float32(1), x.shape)
    return jnp.where(drawn >= rate, x / (1 - rate), 0).astype(x.dtype)


def _mixed(x: Any, memory: Any, p: Any, hidden: Any) -> Any:
    """Attention of x to memory; sentences that were packed together do not see each other."""
    q, k, v = (
        dense(each, p[name]).reshape(each.shape[0], LENGTH, HEADS, WIDTH // HEADS)
        for each, name in ((x, "q"), (memory, "k"), (memory, "v"))
    )
    scores = jnp.einsum("blhc,bmhc->bhlm", q, k) / float(np.sqrt(WIDTH // HEADS)) + hidden
    shares = _dropped(jax.nn.softmax(scores.astype(F32)).astype(x.dtype))
    return dense(jnp.einsum("bhlm,bmhc->blhc", shares, v).reshape(x.shape), p["o"])


def _stack(x: Any, memory: Any, layers: Any, masks: tuple[Any, Any]) -> Any:
    """Six layers; a decoder where there is a memory to look at."""
    for p in layers:
        y = layer_norm(x, p["l1"])
        x = x + _dropped(_mixed(y, y, p, masks[0]))
        if memory is not None:
            y = layer_norm(x, p["l3"])
            x = x + _dropped(_mixed(y, memory, p["cross"], masks[1]))
        inner = _dropped(jax.nn.relu(dense(layer_norm(x, p["l2"]), p["i"])))
        x = x + _dropped(dense(inner, p["f"]))
    return x


def transformer_big(batch: int) -> tuple[Any, Any, Any]:
    """Transformer big on packed sentences of 256 places, Adam, gradients summed in bfloat16."""
    square = {name: of(WIDTH, WIDTH) for name in "qkvo"}
    decoder = {**block(WIDTH, INNER), "cross": square, "l3": norm(WIDTH)}
    parameters = {
        "words": Shape((WORDS, WIDTH), F32), "ends": [norm(WIDTH), norm(WIDTH)],
        "encoder": [block(WIDTH, INNER) for _ in range(LAYERS)],
        "decoder": [decoder for _ in range(LAYERS)],
    }  # fmt: skip

    def loss(p: Any, given: Any) -> Any:
        source, target, labels, of_source, of_target = given
        words = p["words"].astype(BF16)

        def hidden(one: Any, other: Any, later: bool) -> Any:
            apart = one[:, None, :, None] != other[:, None, None, :]
            if later:
                apart = apart | ~jnp.tril(jnp.ones((LENGTH, LENGTH), bool))[None, None]
            return apart.astype(BF16) * -1e9

        x = _dropped(words[source] * 32.0)
        own = hidden(of_source, of_source, False)
        memory = layer_norm(_stack(x, None, p["encoder"], (own, own)), p["ends"][0])
        masks = hidden(of_target, of_target, True), hidden(of_target, of_source, False)
        y = _stack(_dropped(words[target] * 32.0), memory, p["decoder"], masks)
        y = layer_norm(y, p["ends"][1])
        logits = (y @ words.T).astype(F32)
        shares = jax.nn.log_softmax(logits)
        right = jnp.take_along_axis(shares, labels[..., None], -1)[..., 0]
        return -jnp.mean(0.9 * right + 0.1 * jnp.mean(shares, -1))

    given = tuple(Shape((batch, LENGTH), I32) for _ in range(5))
    return without_keys(loss, adam, BF16), (parameters, parameters, parameters), given
