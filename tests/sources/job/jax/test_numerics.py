"""What of a step is in 16 bits where that loses something."""

from __future__ import annotations

from typing import Any, cast

import pytest

from tpudiag.sources.job.jax import numerics
from tpudiag.sources.job.jax.equations import Equations
from tpudiag.sources.job.jax.jitted import Jitted, Record
from tpudiag.sources.job.jax.kept_step import KeptStep
from tpudiag.sources.job.jax.state_values import StateValues
from tpudiag.sources.job.jax.step import TracedStep

pytestmark = pytest.mark.slow
ROWS = 512


Found = tuple[list[str], str, list[tuple[int, int]]]
IN_16: Found = (["exp"], "", [(ROWS, 385)])
IN_32: Found = ([], "float32", [])


@pytest.mark.parametrize(("dtype", "found"), [("bfloat16", IN_16), ("float32", IN_32)])
def test_a_loss_and_positions(jax: Any, dtype: str, found: Found) -> None:
    numpy = jax.numpy

    def step(weights: Any, x: Any) -> Any:
        def loss(weights: Any) -> Any:
            angles = numpy.arange(ROWS).astype(dtype)[:, None]
            placed = x + numpy.sin(angles).astype("bfloat16")
            hidden = jax.nn.softmax(placed @ weights)
            return -jax.nn.log_softmax((hidden @ weights.T).astype(dtype)).mean()

        return jax.value_and_grad(loss)(weights)

    half = numpy.ones((8, 4), "bfloat16"), numpy.ones((ROWS, 8), "bfloat16")
    seen = Equations(jax.jit(step).trace(*half).jaxpr.jaxpr, frozenset()).seen
    merged = [(each.count, each.different) for each in numerics.merged(seen)]
    low = [each.op for each in numerics.low_precision(seen)]
    assert (low, numerics.loss_dtype(seen), merged) == found


@pytest.mark.parametrize(
    ("last", "found"),
    [("silu", ""), ("glu", ""), ("sigmoid", "logistic"), ("softplus", "exp log1p"),
     ("pooling", ""), ("labels", "exp log")],
)  # fmt: skip
def test_an_activation_or_weighting_is_no_softmax(jax: Any, last: str, found: str) -> None:
    def step(weights: Any, x: Any) -> Any:
        def loss(weights: Any) -> Any:
            left, right = x @ weights, x @ weights.T
            if last == "glu":
                given = left * jax.nn.sigmoid(right)
            elif last == "pooling":
                given = (jax.nn.softmax(right)[..., None] * x).sum(1)
            elif last == "labels":
                given = jax.numpy.log(jax.nn.softmax(right)) * x
            else:
                given = getattr(jax.nn, last)(right)
            return given.astype("float32").mean()

        return jax.value_and_grad(loss)(weights)

    half = jax.numpy.ones((8, 8), "bfloat16")
    seen = Equations(jax.jit(step).trace(half, half).jaxpr.jaxpr, frozenset()).seen
    assert {each.op for each in numerics.low_precision(seen)} == set(found.split())


@pytest.mark.parametrize(("returns", "keeps"), [(True, True), (True, False), (False, False)])
@pytest.mark.parametrize("used", [1.0, 0.0], ids=["trained", "without gradients"])
def test_moments_that_no_call_finds_changed(
    jax: Any, used: float, *, returns: bool, keeps: bool
) -> None:
    def step(weights: Any, moment: Any, x: Any) -> Any:
        def loss(weights: Any) -> Any:
            return (x @ weights).mean() * used

        new = 0.9 * moment + jax.grad(loss)(weights)
        return weights - new, new if returns else moment

    compiled, kept, record = jax.jit(step), KeptStep(), Record("step", None)
    jitted = Jitted(compiled, step, cast("Any", None), record, None)
    record.values = StateValues(jax, False)
    kept.watch(jax)
    weights, moment = jax.numpy.ones(3), jax.numpy.zeros(3)
    for _ in range(3):
        given = weights, moment, jax.numpy.ones((8, 3))
        record.values.before((given, {}))
        weights, new = compiled(*given)
        moment = new if keeps else moment
        kept.ran(jitted, given, {}, False)
        kept.gave(record, [weights, new])
    assert kept.step is not None
    lost = numerics.read(TracedStep(jax, kept.step)).lost_moments
    assert (lost is not None and lost.names) == (not keeps and ("moment",))
