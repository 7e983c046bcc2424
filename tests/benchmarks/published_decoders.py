"""Published training steps of decoders, rebuilt in JAX: layers in a loop, weights sharded over all.

As MaxText runs them: float32 weights and moments sharded over the axis `d` (FSDP), bfloat16
compute, causal attention by the splash kernel, words looked up by a product with one-hot rows, the
layer's products made again for the gradient.
"""

# mypy: ignore-errors
# pyright: basic
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from tests.benchmarks.published_steps import BF16, F32, I32, Shape, adam

TILE = 512
OFFLOADED = ("input", "out", "q", "k", "v")
"""What the recipes for v6e keep in the host's memory."""


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """The dimensions of a decoder and what its layers keep for the gradient."""

    length: int
    layers: int
    width: int
    inner: int
    heads: int
    kv_heads: int
    head: int
    words: int
    gated: bool = True
    kept: tuple[str, ...] = ()
    """Of `input q k v out context`; the rest is made again."""
    offloaded: tuple[str, ...] = ()
    """The same, kept in the host's memory."""
    tile: int = TILE
    fused: bool = False
    """Whether one kernel makes all gradients of the attention."""
    weights: Any = F32


MAXTEXT16 = Decoder(
    length=2048, layers=32, width=4096, inner=28672, heads=64, kv_heads=64, head=128, words=32000
)
MAXTEXT32 = replace(MAXTEXT16, width=8192)
MAXTEXT64 = replace(MAXTEXT32, layers=64)
LLAMA8 = Decoder(
    length=8192, layers=32, width=4096, inner=14336, heads=32, kv_heads=8, head=128, words=128256,
    offloaded=OFFLOADED, tile=2048, fused=True,
)  # fmt: skip
MISTRAL7 = replace(LLAMA8, words=32000)
LLAMA70 = replace(
    LLAMA8, layers=80, width=8192, inner=28672, heads=64, offloaded=("input", "q", "k", "v"),
    weights=BF16,
)  # fmt: skip
GPT3 = Decoder(
    length=2048, layers=96, width=12288, inner=49152, heads=96, kv_heads=96, head=128, words=50304,
    gated=False, tile=1024,
)  # fmt: skip


def rms(x: Any, scale: Any) -> Any:
    y = x.astype(F32)
    root = lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)
    return (y * root).astype(BF16) * scale.astype(BF16)


def turned(x: Any) -> Any:
    """Rotary positions."""
    length, half = x.shape[1], x.shape[3] // 2
    angle = jnp.arange(length, dtype=F32)[:, None] * jnp.exp(
        jnp.arange(half, dtype=F32) * (-9.2 / half)
    )
    sin, cos = jnp.sin(angle)[None, :, None, :], jnp.cos(angle)[None, :, None, :]
    a, b = jnp.split(x.astype(F32), 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(BF16)


def attend(model: Decoder, mesh: Any, q: Any, k: Any, v: Any) -> Any:
    """Causal attention by the kernel that the published runs used."""
    from jax.experimental.pallas.ops.tpu import splash_attention as splash

    side = min(model.tile, model.length)
    mask = splash.MultiHeadMask(
        [splash.CausalMask((model.length, model.length)) for _ in range(model.heads)]
    )
    apart = None if model.fused else side
    sizes = splash.BlockSizes(
        block_q=side, block_kv=side, block_kv_compute=side, block_q_dkv=side, block_kv_dkv=side,
        block_kv_dkv_compute=side, block_q_dq=apart, block_kv_dq=apart,
        use_fused_bwd_kernel=model.fused,
    )  # fmt: skip
    kernel = jax.vmap(
        splash.make_splash_mha(mask, block_sizes=sizes, head_shards=1, q_seq_shards=1)
    )
    scale = np.float32(1 / np.sqrt(model.head)).astype(BF16)

    def inner(q: Any, k: Any, v: Any) -> Any:
        heads_first = [x.transpose(0, 2, 1, 3) for x in (q * scale, k, v)]
        attended: Any = kernel(*heads_first)
        return attended.transpose(0, 2, 1, 3)

    return jax.shard_map(inner, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False)(
        q, k, v
    )


def layer(model: Decoder, mesh: Any, x: Any, weights: Any) -> tuple[Any, None]:
    """One layer of the loop."""
    w = {name: value.astype(BF16) for name, value in weights.items()}
    x = checkpoint_name(x, "input")
    h, batch = rms(x, w["n1"]), x.shape[0]
    q, k, v = (
        checkpoint_name((h @ w[n]).reshape(batch, model.length, -1, model.head), n) for n in "qkv"
    )
    mixed = checkpoint_name(attend(model, mesh, turned(q), turned(k), v), "context")
    x = x + checkpoint_name(mixed.reshape(batch, model.length, -1) @ w["o"], "out")
    h = rms(x, w["n2"])
    up = jax.nn.silu(h @ w["w1"]) * (h @ w["w3"]) if model.gated else jax.nn.relu(h @ w["w1"])
    return x + up @ w["w2"], None


def parameters(model: Decoder) -> dict[str, Any]:
    width, inner, kind = model.width, model.inner, model.weights
    across, thin = model.heads * model.head, model.kv_heads * model.head
    shapes = {
        "q": (width, across),
        "k": (width, thin),
        "v": (width, thin),
        "o": (across, width),
        "w1": (width, inner),
        "w2": (inner, width),
        "n1": (width,),
        "n2": (width,),
    }
    if model.gated:
        shapes["w3"] = (width, inner)
    layers = {name: Shape((model.layers, *shape), kind) for name, shape in shapes.items()}
    return {
        "words": Shape((model.words, width), kind),
        "out": Shape((width, model.words), kind),
        "norm": Shape((width,), kind),
        "layers": layers,
    }


def policy(model: Decoder) -> Any:
    """What a layer keeps."""
    rules = jax.checkpoint_policies
    if model.offloaded:
        return rules.save_and_offload_only_these_names(
            names_which_can_be_saved=list(model.kept),
            names_which_can_be_offloaded=list(model.offloaded),
            offload_src="device",
            offload_dst="pinned_host",
        )
    return rules.save_only_these_names(*model.kept) if model.kept else rules.nothing_saveable


def decoder(model: Decoder, batch: int, mesh: Any) -> tuple[Any, Any, Any]:
    """Step, state and batch (of one device) of a decoder with Adam."""

    def loss(p: Any, given: Any) -> Any:
        ids, labels = given
        x = jax.nn.one_hot(ids, model.words, dtype=BF16) @ p["words"].astype(BF16)
        x = lax.with_sharding_constraint(x, NamedSharding(mesh, P("d")))
        body = jax.checkpoint(lambda x, w: layer(model, mesh, x, w), policy=policy(model))
        x, _ = lax.scan(body, x, p["layers"])
        logits = (rms(x, p["norm"]) @ p["out"].astype(BF16)).astype(F32)
        once = jax.nn.one_hot(labels, model.words)
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * once, -1))

    def step(state: Any, given: Any) -> Any:
        p, first, second = state
        value, gradients = jax.value_and_grad(loss)(p, given)
        return adam(p, first, second, gradients), value

    p = parameters(model)
    ids = Shape((batch, model.length), I32)
    return step, (p, p, p), (ids, ids)


def sharding(mesh: Any, shape: Any) -> Any:
    """Large weights over all devices, along the first dimension that divides."""
    count, dims = mesh.size, shape.shape
    layered = len(dims) == 3
    split = [at for at, size in enumerate(dims) if size % count == 0 and not (layered and at == 0)]
    spec: list[str | None] = [None] * len(dims)
    if split and len(dims) > 1 and not (len(dims) == 2 and dims[0] < 200):
        spec[split[0]] = "d"
    return NamedSharding(mesh, P(*spec))


def lowered(model: Decoder, batch: int, mesh: Any) -> Any:
    """The step of a decoder over all devices of a mesh."""
    step, state, given = decoder(model, batch, mesh)

    def placed(tree: Any, where: Any, times: int = 1) -> Any:
        return jax.tree.map(
            lambda s: Shape((s.shape[0] * times, *s.shape[1:]), s.dtype, sharding=where(s)), tree
        )

    state = placed(state, lambda s: sharding(mesh, s))
    out = jax.tree.map(lambda s: s.sharding, state)
    given = placed(given, lambda _: NamedSharding(mesh, P("d")), mesh.size)
    return jax.jit(step, donate_argnums=0, out_shardings=(out, None)).lower(state, given)
