"""What of a step is in 16 bits where that loses something."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.jax import numerics
from tpudiag.sources.job.jax.equations import Equations

pytestmark = pytest.mark.slow
ROWS = 512


@pytest.mark.parametrize(
    ("dtype", "found"),
    [
        ("bfloat16", (["exp"], "", [(ROWS, 385)])),
        ("float32", ([], "float32", [])),
    ],
)
def test_a_loss_and_positions(dtype: str, found: Any) -> None:
    jax: Any = import_module("jax")
    numpy = jax.numpy

    def step(weights: Any, x: Any) -> Any:
        def loss(weights: Any) -> Any:
            angles = numpy.arange(ROWS).astype(dtype)[:, None]
            placed = x + numpy.sin(angles).astype("bfloat16")
            hidden = jax.nn.softmax(placed @ weights)
            return -jax.nn.log_softmax((hidden @ weights.T).astype(dtype)).mean()

        return jax.value_and_grad(loss)(weights)

    half = numpy.ones((8, 4), "bfloat16"), numpy.ones((ROWS, 8), "bfloat16")
    step_seen: Any = SimpleNamespace(
        seen=Equations(jax.jit(step).trace(*half).jaxpr.jaxpr, frozenset()).seen
    )
    assert found == (
        [each.op for each in numerics._low_precision(step_seen)],
        numerics._loss_dtype(step_seen),
        [(each.count, each.different) for each in numerics._merged(step_seen)],
    )
