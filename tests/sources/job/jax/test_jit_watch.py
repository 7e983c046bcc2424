"""Calls of a function that does not train, before the first step."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tpudiag.sources.job.jax import script_remainder
from tpudiag.sources.job.jax.jit_watch import JitWatch
from tpudiag.sources.job.jax.jitted import Jitted, Record
from tpudiag.sources.job.jax.script_remainder import FEWEST_CALLS, RestOfScript
from tpudiag.sources.job.points import hooks

pytestmark = pytest.mark.slow


@pytest.fixture
def watch(jax: Any) -> Iterator[Any]:
    made = JitWatch(lambda _: None)
    made.watch(jax)
    yield made
    hooks.undo()


def test_a_function_made_of_a_followed_one_is_its_own(jax: Any, watch: Any) -> None:
    inner: Any = watch._jit(jax.jit, jax.numpy.sum)
    outer: Any = watch._jit(jax.jit, jax.vmap(jax.grad(inner)))
    assert outer(jax.numpy.ones((5, 2))).shape == (5, 2)


def test_one_that_is_made_anew_is_told_beside_a_ragged_batch(jax: Any, watch: Any) -> None:
    def epoch() -> None:
        def total(x: Any) -> Any:
            return x.sum()

        function = watch._jit(jax.jit, total)
        for rows in (8, 8, 3):
            function(jax.numpy.ones((rows, 2)))

    for _ in range(3):
        epoch()
    (record,) = (each for each in watch.records.values() if each.calls == 9)
    kinds = [change.kind for retrace in record.retraces for change in retrace.changes]
    assert kinds == ["shape", "new function", "shape", "new function", "shape"]


def test_what_the_job_keeps_of_earlier_steps_is_counted(jax: Any, watch: Any) -> None:
    def total(weights: Any) -> Any:
        return (weights * weights).sum()

    step: Any = watch._jit(jax.jit, jax.grad(total))
    kept: list[Any] = [jax.numpy.ones((512, 512))]
    for _ in range(5):
        kept.append(step(kept[-1]))
    (record,) = (each for each in watch.records.values() if each.trains)
    assert record.held() == (3, 3 << 20)
    del kept[3]
    assert record.held() == (0, 0)


@pytest.mark.parametrize("traced", [False, True])
def test_a_long_evaluation_is_answered_but_by_nothing_without_values(
    monkeypatch: pytest.MonkeyPatch, jax: Any, watch: Any, traced: bool
) -> None:
    monkeypatch.setattr(script_remainder, "LONG_S", 0.0)
    made: list[object] = [jax.numpy.ones(3)]
    jax.make_jaxpr(made.append)(1.0)
    result = made[traced]
    watch.rest = RestOfScript(60, lambda: None)
    watch.rest.leaves = jax.tree_util.tree_leaves
    calls: list[object] = []

    def evaluate() -> object:
        calls.append(result)
        return result

    jitted = Jitted(evaluate, evaluate, watch, Record("evaluate", None))
    assert all(jitted() is result for _ in range(2 * FEWEST_CALLS))
    assert len(calls) == FEWEST_CALLS * (1 + traced)


RATE = 0.1


def test_a_number_that_changes_while_steps_are_answered_is_frozen(
    monkeypatch: pytest.MonkeyPatch, jax: Any, watch: Any
) -> None:
    def step(weights: Any) -> Any:
        return weights - RATE

    watch.rest = RestOfScript(60, lambda: None)
    watch.rest.leaves = jax.tree_util.tree_leaves
    jitted = Jitted(jax.jit(step), step, watch, Record("step", None, made=1, trains=True))
    weights: Any = jitted(jax.numpy.ones(3))
    watch.rest.deadline.start()
    jitted(jitted(weights))
    monkeypatch.setitem(globals(), "RATE", 0.05)
    assert jitted(weights) is not None
    watch.rest.deadline.cancel()
    assert [(state.traced, state.now) for state in watch.state.facts()] == [("0.1", "0.05")]
    assert jitted.record.forwarded > 0
