"""Where (n, 1) meets (n,), a loss is one of each prediction with each label."""

from __future__ import annotations

from typing import Any

import pytest

from tpudiag.sources.job.jax import pairs

pytestmark = pytest.mark.slow
ROWS, DEVICES = 8, 2


def found(jax: Any, loss: Any, *, labels: tuple[int, ...] = (ROWS * DEVICES,)) -> int:
    def step(weights: Any, x: Any, y: Any) -> Any:
        def of_weights(weights: Any) -> Any:
            return loss(x @ weights, y)

        return jax.value_and_grad(of_weights)(weights)

    numpy = jax.numpy
    arguments = numpy.ones((4, 1)), numpy.ones((ROWS * DEVICES, 4)), numpy.ones(labels)
    program = jax.jit(step).trace(*arguments).jaxpr.jaxpr
    seen = pairs.read(program, frozenset((0,)), ROWS, DEVICES)
    return seen.rows if seen is not None else 0


@pytest.mark.parametrize("form", ["squares", "distances", "entropy"])
def test_predictions_that_meet_all_labels(jax: Any, form: str) -> None:
    def loss(z: Any, y: Any) -> Any:
        match form:
            case "squares":
                return ((z - y) ** 2).mean()
            case "distances":
                return abs(z - y).sum()
            case _:
                sure = jax.nn.log_sigmoid
                return -(y * sure(z) + (1 - y) * sure(-z)).mean()

    def of_lists(z: Any, y: Any) -> Any:
        return loss(z[:, 0], y)

    assert found(jax, loss) == ROWS * DEVICES
    assert not found(jax, loss, labels=(ROWS * DEVICES, 1))
    assert not found(jax, of_lists)


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
