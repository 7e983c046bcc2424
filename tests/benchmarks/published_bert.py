"""BERT-large as MLPerf v0.7 trained it, rebuilt in JAX (published_steps.py).

Masks of dropout are drawn in bfloat16 as TensorFlow's `RandomUniform` is on a TPU: by its
compiler. On v4 the shares of attention are divided by their sum after the product with the values.
"""

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
    bert_parameters,
    cross_entropy,
    dense,
    lamb,
    layer_norm,
    without_keys,
)

WIDTH, HEADS, LENGTH, MASKED, RATE = 1024, 16, 512, 76, 0.1


def _kept(shape: tuple[int, ...]) -> Any:
    drawn = lax.rng_uniform(jnp.bfloat16(0), jnp.bfloat16(1), shape)
    return (drawn >= RATE).astype(BF16)


def _dropped(x: Any) -> Any:
    return x * (1 / (1 - RATE)) * _kept(x.shape)


def _mixed(x: Any, p: Any, hidden: Any) -> Any:
    q, k, v = (dense(x, p[n]).reshape(*x.shape[:2], HEADS, WIDTH // HEADS) for n in "qkv")
    scores = jnp.einsum("btnh,bfnh->bnft", k, q / float(np.sqrt(WIDTH // HEADS))) + hidden
    scores = scores.astype(F32)
    powers = jnp.exp(scores - lax.stop_gradient(jnp.max(scores, -1, keepdims=True)))
    total = jnp.sum(powers, -1, keepdims=True)
    shares = _kept(powers.shape) * powers.astype(BF16)
    made = jnp.einsum("bnft,btnh->bfnh", shares, v)
    made = made / jnp.transpose(total, (0, 2, 1, 3)).astype(BF16) * (1 / (1 - RATE))
    return dense(made.reshape(x.shape), p["o"])


def _official(x: Any, p: Any, hidden: Any) -> Any:
    q, k, v = (dense(x, p[n]).reshape(*x.shape[:2], HEADS, WIDTH // HEADS) for n in "qkv")
    scores = jnp.einsum("bfnh,btnh->bnft", q / float(np.sqrt(WIDTH // HEADS)), k) + hidden
    shares = _dropped(jax.nn.softmax(scores))
    return dense(jnp.einsum("bnft,btnh->bfnh", shares, v).reshape(x.shape), p["o"])


def bert_research(batch: int) -> tuple[Any, Any, Any]:
    """As on v4: gradients are summed in bfloat16."""
    return _trained(batch, _mixed, BF16)


def bert_keras(batch: int) -> tuple[Any, Any, Any]:
    """As on v3 by TensorFlow 2 and its official layers, softmax in bfloat16."""
    return _trained(batch, _official, F32)


def _trained(batch: int, mixed: Any, summed_in: Any) -> tuple[Any, Any, Any]:
    """BERT-large with masked words and next sentence, and LAMB."""
    parameters = bert_parameters(24, WIDTH, 4 * WIDTH, 30522)

    def body(p: Any, ids: Any, types: Any, mask: Any) -> Any:
        x = p["words"].astype(BF16)[ids] + p["places"].astype(BF16)[None]
        x = _dropped(layer_norm(x + p["types"].astype(BF16)[types], p["norm"]))
        hidden = (1 - mask.astype(BF16))[:, None, None, :] * -10000.0
        for each in p["blocks"]:
            x = layer_norm(x + _dropped(mixed(x, each, hidden)), each["l1"])
            inner = dense(jax.nn.gelu(dense(x, each["i"])), each["f"])
            x = layer_norm(x + _dropped(inner), each["l2"])
        return x

    def loss(p: Any, given: Any) -> Any:
        ids, types, mask, at, words, following = given
        x = body(p, ids, types, mask)
        second = dense(jnp.tanh(dense(x[:, 0], p["pool"])), p["cls"]).astype(F32)
        places = (at + jnp.arange(batch)[:, None] * LENGTH).reshape(-1)
        y = dense(x.reshape(-1, WIDTH)[places], p["mlm"])
        y = layer_norm(jax.nn.gelu(y), p["mlm norm"])
        logits = (y @ p["words"].astype(BF16).T).astype(F32) + p["mlm bias"]
        return cross_entropy(logits, words.reshape(-1)) + cross_entropy(second, following)

    tokens = Shape((batch, LENGTH), I32)
    masked = Shape((batch, MASKED), I32)
    given = tokens, tokens, tokens, masked, masked, Shape((batch,), I32)
    return without_keys(loss, lamb, summed_in), (parameters, parameters, parameters), given
