"""The step's state: what goes from one call to the next, whatever lies between."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from tpudiag.sources.job.jax.jitted import Jitted, Record
from tpudiag.sources.job.jax.kept_step import KeptStep


def with_path(tree: object, path: str = "") -> list[tuple[str, object]]:
    """Leaves of tuples and dicts, each with its path."""
    if isinstance(tree, dict):
        return [one for key, value in _items(tree) for one in with_path(value, f"{path}[{key!r}]")]
    if isinstance(tree, tuple):
        return [one for n, value in _numbered(tree) for one in with_path(value, f"{path}[{n}]")]
    return [(path, tree)]


def _items(tree: Any) -> list[tuple[object, object]]:
    return [*tree.items()]


def _numbered(tree: Any) -> list[tuple[int, object]]:
    return [*enumerate(tree)]


class TreeUtil:
    """As jax.tree_util."""

    keystr = str

    def tree_leaves(self, tree: object) -> list[object]:
        return [leaf for _, leaf in with_path(tree)]

    def tree_flatten_with_path(self, tree: object) -> tuple[list[tuple[str, object]], None]:
        return with_path(tree), None

    def tree_map(self, _: object, tree: object) -> object:
        return tree


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
