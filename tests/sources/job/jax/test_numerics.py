"""What of a step is in 16 bits where that loses something."""

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


def lost(jax: Any, step: Any, state: Any, *, keeps: bool) -> Any:
    """The state that is lost in three calls of a step, which gives weights and a new state."""
    compiled, kept, record = jax.jit(step), KeptStep(), Record("step", None)
    jitted = Jitted(compiled, step, cast("Any", None), record)
    record.values = StateValues(jax, False)
    kept.jax = jax
    weights = jax.numpy.ones(3)
    for n in range(3):
        given = weights, state, jax.numpy.ones((8, 3))
        record.values.before((given, {}))
        weights, new = compiled(*given)
        if n == 0:
            record.values.after((weights, new))
        state = new if keeps else state
        kept.ran(jitted, given, {}, False)
        kept.gave(record, jax.tree_util.tree_leaves((weights, new)))
    assert kept.step is not None
    record.values.apart = {"[0][0]"}
    found = numerics.read(TracedStep(jax, kept.step))
    assert found.replicas_apart is not None and not found.replicas_apart.by_program
    return found.lost_moments


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

    found = lost(jax, step, jax.numpy.zeros(3), keeps=keeps)
    assert (found is not None and found.names) == (not keeps and ("moment",))


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("raised", [1, 2])
def test_moments_of_every_second_batch_are_lost_with_their_counter(
    jax: Any, raised: int, *, keeps: bool
) -> None:
    def step(weights: Any, state: Any, x: Any) -> Any:
        gradient = x.mean(0)
        emits = state["mini_step"] % 2 == 1
        trace = jax.numpy.where(emits, 0.9 * state["trace"] + gradient, state["trace"])
        counted = state["mini_step"] + raised
        return weights - trace - gradient, {"mini_step": counted, "trace": trace}

    counter = jax.numpy.zeros((), "int32")
    found = lost(jax, step, {"mini_step": counter, "trace": jax.numpy.zeros(3)}, keeps=keeps)
    told = not keeps and raised == 1
    assert (found is not None and found.names) == (told and ("state['mini_step']",))
