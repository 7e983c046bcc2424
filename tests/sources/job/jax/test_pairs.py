"""Where (n, 1) meets (n,), a loss is one of each prediction with each label."""

# pyright: reportUnknownLambdaType=false
from collections.abc import Callable
from typing import Any

import pytest

from tpudiag.sources.job.jax import pairs

pytestmark = pytest.mark.slow
ROWS, DEVICES = 8, 2


Loss = Callable[[Any, Any, Any], Any]


def found(jax: Any, loss: Loss, *, labels: tuple[int, ...] = (ROWS * DEVICES,)) -> int:
    def step(weights: Any, x: Any, y: Any) -> Any:
        return jax.value_and_grad(lambda weights: loss(jax, x @ weights, y))(weights)

    numpy = jax.numpy
    arguments = numpy.ones((4, 1)), numpy.ones((ROWS * DEVICES, 4)), numpy.ones(labels)
    program = jax.jit(step).trace(*arguments).jaxpr.jaxpr
    seen = pairs.read(program, frozenset((0,)), ROWS, DEVICES)
    return seen.rows if seen is not None else 0


def entropy(jax: Any, z: Any, y: Any) -> Any:
    sure = jax.nn.log_sigmoid
    return -(y * sure(z) + (1 - y) * sure(-z)).mean()


MEANT_AS_EACH: tuple[Loss, ...] = (
    entropy,
    lambda _, z, y: ((z - y) ** 2).mean(),
    lambda _, z, y: abs(z - y).sum(),
)
MEANT_AS_PAIRS: tuple[Loss, ...] = (
    lambda _, z, y: (((z - z[:, 0]) * (y[:, None] - y)) ** 2).mean(),  # a ranking
    lambda jax, z, y: jax.numpy.exp(-((z - y) ** 2)).mean(),  # a kernel
    lambda _, z, y: ((z - y) ** 2).min(axis=1).mean(),  # the nearest
)


@pytest.mark.parametrize("loss", MEANT_AS_EACH)
def test_predictions_that_meet_all_labels(jax: Any, loss: Loss) -> None:
    assert found(jax, loss) == ROWS * DEVICES
    assert not found(jax, loss, labels=(ROWS * DEVICES, 1))
    assert not found(jax, lambda jax, z, y: loss(jax, z[:, 0], y))


@pytest.mark.parametrize("loss", MEANT_AS_PAIRS)
def test_pairs_that_are_meant(jax: Any, loss: Loss) -> None:
    assert not found(jax, loss)
