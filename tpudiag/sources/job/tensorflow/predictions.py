"""Shortens Keras' predict: a few batches are predicted, and stand for all that follow.

What a prediction gives has a row for each example, and scripts count on it: the rows of the first
batches are repeated to the length of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

BATCHES = 4
"""Batches that are predicted really."""
LEAST_BATCHES = 16
"""Data of fewer batches are predicted whole."""
# What Keras takes where no batch_size is given.
_KERAS_BATCH = 32


@dataclass(frozen=True)
class FewBatches:
    """The first batches of data, and how many batches and examples there are."""

    data: Any
    batches: int
    examples: int
    steps: int | None = None
    """What `predict` is to be told of steps; None for nothing."""


def first_batches(tf: Any, data: Any, batch_size: Any, steps: Any) -> FewBatches | None:
    """The first batches of arrays or of a dataset; None for other data, and for few batches."""
    if isinstance(data, tf.data.Dataset):
        return _of_dataset(tf, data, steps)
    leaves = tf.nest.flatten(data)
    if steps is not None or not leaves or not all(_is_array(tf, leaf) for leaf in leaves):
        return None
    size = int(batch_size or _KERAS_BATCH)
    examples = len(leaves[0])
    batches = -(-examples // size)
    if batches < LEAST_BATCHES or any(len(leaf) != examples for leaf in leaves):
        return None

    def first(leaf: Any) -> Any:
        return leaf[: BATCHES * size]

    few = tf.nest.map_structure(first, data)
    return FewBatches(few, batches, examples)


def _is_array(tf: Any, leaf: Any) -> bool:
    """Whether it is an array or tensor of examples."""
    array = type(leaf).__module__ == "numpy" and type(leaf).__name__ == "ndarray"
    return (array or tf.is_tensor(leaf)) and bool(getattr(leaf, "shape", None))


def _of_dataset(tf: Any, dataset: Any, steps: Any) -> FewBatches | None:
    """The first batches of a dataset whose batches all have a known size, but for the last."""
    first = tf.nest.flatten(dataset.element_spec)[0]
    size = first.shape[0] if first.shape.rank else None
    batches = int(steps) if steps is not None else int(dataset.cardinality())
    if batches < LEAST_BATCHES or size is None:
        return None
    given = BATCHES if steps is not None else None
    return FewBatches(dataset.take(BATCHES), batches, batches * size, given)


def repeated(tf: Any, result: Any, examples: int) -> Any:
    """A prediction of the first batches, its rows repeated up to so many."""

    def leaf(rows: Any) -> Any:
        if not getattr(rows, "shape", None) or not len(rows):
            return rows
        return rows[[number % len(rows) for number in range(examples)]]

    return tf.nest.map_structure(leaf, result)


def predict(tf: Any, original: Callable[..., Any], bound: Any) -> tuple[Any, FewBatches] | None:
    """A prediction of the first batches alone; None where all must be predicted."""
    given = bound.arguments
    # They may count the batches, or collect what each of them gave.
    if given.get("callbacks"):
        return None
    few = first_batches(tf, given.get("x"), given.get("batch_size"), given.get("steps"))
    if few is None:
        return None
    given["x"] = few.data
    if few.steps is not None:
        given["steps"] = few.steps
    return repeated(tf, original(*bound.args, **bound.kwargs), few.examples), few
