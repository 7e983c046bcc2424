"""The step's state: what goes from one call to the next, whatever lies between."""

from __future__ import annotations

from typing import Any, cast

import pytest

from tpudiag.sources.job.jax.jitted import Jitted, Record
from tpudiag.sources.job.jax.kept_step import KeptStep

pytestmark = pytest.mark.slow


def train_step(state: object, batch: object) -> None:
    """Trains."""


def test_state_that_an_evaluation_gives_back_and_what_is_changed_in_place(jax: Any) -> None:
    ones, step = jax.numpy.ones, KeptStep()
    step.watch(jax)
    jitted = Jitted(train_step, train_step, cast("Any", None), Record("train_step", None), None)
    weights, examples = ones((3, 1)), ones((8, 3))
    step.ran(jitted, (weights, examples), {}, True)
    step.results = {id(weights): weights}
    given_back, predictions = weights.copy(), ones((8, 1))
    step.ran_beside((weights, examples), {}, (given_back, predictions))
    step.ran(jitted, (given_back, predictions), {}, False)
    assert step.step is not None
    assert step.step.state == frozenset(("[0][0]",)), "what was computed of it is no state"
    kept = step.as_called(jitted, (jax.new_ref(weights), examples), {}, None, frozenset(), 1)
    assert list(map(type, kept.arguments[0])) == [jax.Ref, jax.ShapeDtypeStruct]
