"""The step's state: what goes from one call to the next, whatever lies between."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from tests.sources.job.jax.trees import TreeUtil
from tpudiag.sources.job.jax.jitted import Jitted, Record
from tpudiag.sources.job.jax.kept_step import KeptStep


def kept() -> KeptStep:
    """Told of a library that has what it asks for."""
    step, jax = KeptStep(), cast("Any", SimpleNamespace(tree_util=TreeUtil(), Array=np.ndarray))
    step.watch(jax)
    return step


def train_step(state: object, batch: object) -> None:
    """Trains."""


def test_state_that_an_evaluation_gives_back_is_the_steps_own() -> None:
    step, record = kept(), Record("train_step", None)
    jitted: Any = Jitted(train_step, train_step, cast("Any", None), record, None)
    weights, examples = np.ones((3, 1)), np.ones((8, 3))
    step.ran(jitted, (weights, examples), {}, True)
    step.results = {id(weights): weights}
    given_back, predictions = weights.copy(), np.ones((8, 1))
    step.ran_beside((weights, examples), {}, (given_back, predictions))
    step.ran(jitted, (given_back, predictions), {}, False)
    assert step.step is not None
    assert step.step.state == frozenset(("[0][0]",)), "what was computed of it is no state"
