"""The step's state: what goes from one call to the next, whatever lies between."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from tpudiag.sources.job.jax.jitted import Jitted, Record
from tpudiag.sources.job.jax.kept_step import KeptStep


def leaves(tree: Any) -> list[Any]:
    """As jax.tree_util's, of tuples and dicts."""
    return [leaf for _, leaf in with_path(tree)]


def with_path(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    """The same, each with its path."""
    if isinstance(tree, dict):
        return [one for key, value in tree.items() for one in with_path(value, f"{path}[{key!r}]")]
    if isinstance(tree, tuple):
        return [one for n, value in enumerate(tree) for one in with_path(value, f"{path}[{n}]")]
    return [(path, tree)]


def kept() -> KeptStep:
    """Told of a library that has what it asks for."""
    tree_util = SimpleNamespace(
        tree_leaves=leaves,
        tree_flatten_with_path=lambda tree: (with_path(tree), None),
        tree_map=lambda _, tree: tree,
        keystr=str,
    )
    step, jax = KeptStep(), cast("Any", SimpleNamespace(tree_util=tree_util, Array=np.ndarray))
    step.watch(jax)
    return step


def train_step(state: object, batch: object) -> None:
    """Trains."""


def test_state_that_an_evaluation_gives_back_is_the_steps_own() -> None:
    step, record = kept(), Record("train_step", None)
    jitted: Any = Jitted(train_step, train_step, SimpleNamespace(), record, None)
    weights, examples = np.ones((3, 1)), np.ones((8, 3))
    step.ran(jitted, (weights, examples), {}, True)
    step.results = {id(weights): weights}
    given_back, predictions = weights.copy(), np.ones((8, 1))
    step.ran_beside((weights, examples), {}, (given_back, predictions))
    step.ran(jitted, (given_back, predictions), {}, False)
    assert step.step is not None
    assert step.step.state == frozenset(("[0][0]",)), "what was computed of it is no state"
