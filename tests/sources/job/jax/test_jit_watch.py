"""Calls of a function that does not train, before the first step."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.sources.job.jax.trees import TreeUtil
from tpudiag.sources.job.jax import script_remainder
from tpudiag.sources.job.jax.jit_watch import JitWatch
from tpudiag.sources.job.jax.jitted import Jitted, Record
from tpudiag.sources.job.jax.script_remainder import FEWEST_CALLS, RestOfScript


class Tracer:
    """Holds no values."""


@pytest.mark.parametrize(
    ("result", "runs"), [(np.ones(3), FEWEST_CALLS), (Tracer(), 2 * FEWEST_CALLS)]
)
def test_a_long_evaluation_is_answered_but_by_nothing_without_values(
    monkeypatch: pytest.MonkeyPatch, result: object, runs: int
) -> None:
    monkeypatch.setattr(script_remainder, "LONG_S", 0.0)
    jax: Any = SimpleNamespace(
        tree_util=TreeUtil(), core=SimpleNamespace(Tracer=Tracer), Array=np.ndarray, config=None
    )
    watch = JitWatch(lambda _: None)
    watch._jax, watch._ready = jax, jax.tree_util.tree_leaves
    watch.kept.watch(jax)
    watch.rest = RestOfScript(60, lambda: None)
    watch.rest.leaves = jax.tree_util.tree_leaves
    calls: list[object] = []

    def evaluate() -> object:
        calls.append(result)
        return result

    jitted = Jitted(evaluate, evaluate, cast("Any", watch), Record("evaluate", None), None)
    assert all(jitted() is result for _ in range(2 * FEWEST_CALLS))
    assert len(calls) == runs
