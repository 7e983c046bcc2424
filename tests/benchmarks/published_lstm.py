"""A published training step of LSTMs, rebuilt in JAX: translation by GNMT.

MLPerf v0.6: four layers of 1024 units each side, the first of the encoder in both directions,
normalised Bahdanau attention, sentences of 48 tokens, dropout 0.2, Adam, bfloat16 activations.
Products of a whole sequence stand outside the loops, as the published program has them.
"""

# mypy: ignore-errors
# pyright: basic
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.benchmarks.published_steps import BF16, F32, I32, Shape, adam

UNITS, WORDS, LENGTH, DROPPED = 1024, 32320, 48, 0.2


def weights(inputs: int) -> dict[str, Any]:
    return {
        "x": Shape((inputs, 4 * UNITS), F32),
        "h": Shape((UNITS, 4 * UNITS), F32),
        "b": Shape((4 * UNITS,), F32),
    }


def parameters() -> dict[str, Any]:
    return {
        "source": Shape((WORDS, UNITS), F32),
        "target": Shape((WORDS, UNITS), F32),
        "forward": weights(UNITS),
        "backward": weights(UNITS),
        "second": weights(2 * UNITS),
        "encoder": [weights(UNITS) for _ in range(2)],
        "attending": weights(2 * UNITS),
        "decoder": [weights(2 * UNITS) for _ in range(3)],
        "memory": Shape((UNITS, UNITS), F32),
        "query": Shape((UNITS, UNITS), F32),
        "score": Shape((UNITS,), F32),
        "out": Shape((UNITS, WORDS), F32),
    }


def dropped(x: Any, key: Any) -> Any:
    kept = jax.random.bernoulli(key, 1 - DROPPED, x.shape)
    return jnp.where(kept, x / (1 - DROPPED), 0).astype(x.dtype)


def cell(gates: Any, state: Any) -> Any:
    i, j, f, o = jnp.split(gates.astype(F32), 4, -1)
    c = state * jax.nn.sigmoid(f) + jax.nn.sigmoid(i) * jnp.tanh(j)
    return c, (jnp.tanh(c) * jax.nn.sigmoid(o)).astype(BF16)


def zeros(batch: int) -> Any:
    return jnp.zeros((batch, UNITS), F32), jnp.zeros((batch, UNITS), BF16)


def lstm(x: Any, p: Any, key: Any, backwards: bool = False) -> Any:
    """A layer over time-major x: [time, batch, inputs]."""
    p = jax.tree.map(lambda w: w.astype(BF16), p)
    inputs = dropped(x, key) @ p["x"] + p["b"]

    def step(state: Any, given: Any) -> Any:
        c, h = cell(given + state[1] @ p["h"], state[0])
        return (c, h), h

    return lax.scan(step, zeros(x.shape[1]), inputs, reverse=backwards)[1]


def attended(query: Any, keys: Any, memory: Any, p: Any) -> Any:
    """The context of each sentence: keys and memory are [batch, time, units]."""
    energy = jnp.tanh(keys + (query @ p["query"])[:, None, :])
    shares = jax.nn.softmax(jnp.sum(energy * p["score"], -1).astype(F32)).astype(BF16)
    return jnp.einsum("bt,btu->bu", shares, memory)


def attending(x: Any, memory: Any, p: Any, key: Any) -> Any:
    """The decoder's first layer, which reads the context of the step before."""
    named = {name: p[name].astype(BF16) for name in ("query", "score", "memory")}
    w = jax.tree.map(lambda v: v.astype(BF16), p["attending"])
    memory = memory.swapaxes(0, 1)
    keys = memory @ named["memory"]
    inputs = dropped(x, key) @ w["x"][:UNITS] + w["b"]

    def step(state: Any, given: Any) -> Any:
        c, h, context = state
        c, h = cell(given + context @ w["x"][UNITS:] + h @ w["h"], c)
        context = attended(h, keys, memory, named)
        return (c, h, context), (h, context)

    batch = x.shape[1]
    start = (*zeros(batch), jnp.zeros((batch, UNITS), BF16))
    return lax.scan(step, start, inputs)[1]


def encoded(p: Any, ids: Any, keys: Any) -> Any:
    x = p["source"].astype(BF16)[ids.T]
    both = [lstm(x, p["forward"], keys[0]), lstm(x, p["backward"], keys[1], True)]
    x = lstm(jnp.concatenate(both, -1), p["second"], keys[2])
    for number, each in enumerate(p["encoder"]):
        x = x + lstm(x, each, keys[3 + number])
    return x


def decoded(p: Any, ids: Any, memory: Any, keys: Any) -> Any:
    x, context = attending(p["target"].astype(BF16)[ids.T], memory, p, keys[0])
    for number, each in enumerate(p["decoder"]):
        y = lstm(jnp.concatenate([x, context], -1), each, keys[1 + number])
        x = x + y if number else y
    return x @ p["out"].astype(BF16)


def gnmt(batch: int) -> tuple[Any, Any, Any]:
    """Step, state and batch (of one device)."""

    def loss(p: Any, given: Any, key: Any) -> Any:
        source, target, labels = given
        keys = jax.random.split(key, 9)
        logits = decoded(p, target, encoded(p, source, keys[:5]), keys[5:]).astype(F32)
        logs = jax.nn.log_softmax(logits)
        picked = jnp.take_along_axis(logs, labels.T[..., None], -1)[..., 0]
        return -jnp.mean(0.9 * picked + 0.1 * logs.mean(-1))

    def step(state: Any, given: Any) -> Any:
        p, first, second, key = state
        now, key = jax.random.split(key)
        value, gradients = jax.value_and_grad(loss)(p, given, now)
        gradients = lax.psum(gradients, "d")
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
        clipped = jax.tree.map(lambda g: g * jnp.minimum(1.0, 5.0 / norm), gradients)
        return (*adam(p, first, second, clipped), key), value

    p = parameters()
    state = (p, p, p, Shape((2,), jnp.uint32))
    return step, state, (*[Shape((batch, LENGTH), I32)] * 3,)
