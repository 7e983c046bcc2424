"""Where (n, 1) meets (n,), a loss is one of each prediction with each label."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tpudiag.sources.job.jax import pairs

pytestmark = pytest.mark.slow
ROWS, DEVICES = 8, 2


@pytest.fixture(scope="module")
def jax() -> Any:
    return import_module("jax")


def found(jax: Any, loss: Any, *, labels: tuple[int, ...] = (ROWS * DEVICES,)) -> int:
    def step(weights: Any, x: Any, y: Any) -> Any:
        return jax.value_and_grad(lambda w: loss(x @ w, y))(weights)

    numpy = jax.numpy
    arguments = numpy.ones((4, 1)), numpy.ones((ROWS * DEVICES, 4)), numpy.ones(labels)
    program = jax.jit(step).trace(*arguments).jaxpr.jaxpr
    seen = pairs.read(program, frozenset((0,)), ROWS, DEVICES)
    return seen.rows if seen is not None else 0


def test_predictions_that_meet_all_labels(jax: Any) -> None:
    numpy = jax.numpy

    def entropy(z: Any, y: Any) -> Any:
        return -numpy.mean(y * jax.nn.log_sigmoid(z) + (1 - y) * jax.nn.log_sigmoid(-z))

    for loss in (lambda z, y: numpy.mean((z - y) ** 2), lambda z, y: abs(z - y).sum(), entropy):
        assert found(jax, loss) == ROWS * DEVICES
        assert not found(jax, loss, labels=(ROWS * DEVICES, 1))
        assert not found(jax, lambda z, y, loss=loss: loss(z[:, 0], y))


def test_pairs_that_are_meant(jax: Any) -> None:
    numpy = jax.numpy

    def ranking(z: Any, y: Any) -> Any:
        return numpy.mean(((z - z[:, 0]) * (y[:, None] - y)) ** 2)

    def kernel(z: Any, y: Any) -> Any:
        return numpy.mean(numpy.exp(-((z - y) ** 2)))

    def each_nearest(z: Any, y: Any) -> Any:
        return numpy.mean(numpy.min((z - y) ** 2, axis=1))

    for loss in (ranking, kernel, each_nearest):
        assert not found(jax, loss)
