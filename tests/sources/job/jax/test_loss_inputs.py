"""Whether a cross-entropy gets scores or probabilities, as it takes them."""

from collections.abc import Callable
from typing import Any

import pytest

from tpudiag.sources.job.jax import loss_inputs

pytestmark = pytest.mark.slow


def entropy(jax: Any, scores: Any) -> Any:
    return -jax.nn.log_softmax(scores)[:, 0].mean()


def binary(jax: Any, scores: Any) -> Any:
    return -jax.nn.log_sigmoid(scores).mean()


def of_probabilities(jax: Any, given: Any) -> Any:
    shares = given / given.sum(-1, keepdims=True)
    return -jax.numpy.log(jax.numpy.clip(shares, 1e-7, 1 - 1e-7)).mean()


def same(_: Any, scores: Any) -> Any:
    return scores


def softmax(jax: Any, scores: Any) -> Any:
    return jax.nn.softmax(scores.astype("bfloat16")).astype("float32")


def sigmoid(jax: Any, scores: Any) -> Any:
    return jax.nn.sigmoid(scores)


def attention(jax: Any, scores: Any) -> Any:
    return jax.nn.softmax(scores @ scores.T) @ scores


def mixed(jax: Any, scores: Any) -> Any:
    return jax.nn.softmax(scores) @ jax.nn.softmax(jax.numpy.ones((3, 3)))


@pytest.mark.parametrize(
    ("layer", "loss", "found"),
    [
        (same, entropy, []),
        (softmax, entropy, [("softmax", "scores")]),
        (attention, entropy, []),
        (same, binary, []),
        (sigmoid, binary, [("sigmoid", "scores")]),
        (softmax, of_probabilities, []),
        (sigmoid, of_probabilities, []),
        (mixed, of_probabilities, []),
        (same, of_probabilities, [("none", "probabilities")]),
    ],
)
def test_what_a_loss_gets_is_what_it_takes(
    jax: Any, layer: Callable[..., Any], loss: Callable[..., Any], found: list[tuple[str, str]]
) -> None:
    def step(weights: Any) -> Any:
        return loss(jax, layer(jax, jax.numpy.ones((8, 4)) @ weights))

    traced = jax.jit(jax.value_and_grad(step)).trace(jax.numpy.ones((4, 3)))
    losses, wrong = loss_inputs.read(traced.jaxpr.jaxpr)
    assert losses and [(each.activation, each.wants) for each in wrong] == found
