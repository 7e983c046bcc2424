"""Shortens Keras' predict: a few batches are predicted, and represent all that follow.

A prediction has a row per example, and scripts rely on it: the rows of the first batches are
repeated to the length of the data.
"""

import inspect
import re
from dataclasses import dataclass
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Call, Library, hooks, interventions, privates
from tpudiag.sources.job.points.library_objects import Dataset
from tpudiag.sources.job.tensorflow.graphs.batches import KERAS_BATCH
from tpudiag.sources.job.tensorflow.input import cardinality
from tpudiag.sources.job.tensorflow.shortening import thin_batches

BATCHES = 4
"""Really predicted batches, where whole ones are."""
LEAST_BATCHES = 16
"""Data of fewer batches is predicted in full, where whole batches run."""
COUNT_S = 5.0
"""The time to count data of unknown length."""
_UNKNOWN = -2
_HANDS_ON = re.compile(r"_?(Parallel)?(Map|Prefetch|Options|Shuffle|Cache|AssertCardinality)")
_BATCHES = re.compile(r"_?(Parallel)?Batch")


@dataclass(frozen=True)
class Rows:
    """The predicted examples of a batch, by the batch's size."""

    real_replicas: int = 1
    replicas: int = 1

    @property
    def whole(self) -> bool:
        """Whether whole batches are predicted."""
        return self.real_replicas == self.replicas

    @property
    def batches(self) -> int:
        """Really predicted batches: one, where even a part of a batch is slow."""
        return BATCHES if self.whole else 1

    def of(self, batch_size: int) -> int:
        """The examples for a batch of this size."""
        return max(batch_size * self.real_replicas // self.replicas, 1)


@dataclass(frozen=True)
class FewBatches:
    """The first batches of data, and the total batches and examples."""

    data: object
    batches: int
    examples: int
    steps: int | None = None
    """The `steps` argument for `predict`; None to leave it out."""


def first_batches(
    tf: Library, data: Any, batch_size: int | None, steps: int | None, rows: Rows
) -> FewBatches | None:
    """The first batches of arrays or of a dataset; None for other data, and for few batches."""
    if isinstance(data, tf.data.Dataset):
        return _of_dataset(tf, data, steps, rows)
    leaves = tf.nest.flatten(data)
    if steps is not None or not leaves or not all(_is_array(tf, leaf) for leaf in leaves):
        return None
    size = int(batch_size or KERAS_BATCH)
    examples = len(leaves[0])
    batches = -(-examples // size)
    if _is_short(batches, rows) or any(len(leaf) != examples for leaf in leaves):
        return None

    def first(leaf: Any) -> object:
        return leaf[: rows.batches * rows.of(size)]

    few = tf.nest.map_structure(first, data)
    return FewBatches(few, batches, examples)


def _is_short(batches: int, rows: Rows) -> bool:
    """Whether data is predicted in full."""
    return batches < LEAST_BATCHES and rows.whole


def _is_array(tf: Library, leaf: object) -> bool:
    array = type(leaf).__module__ == "numpy" and type(leaf).__name__ == "ndarray"
    return (array or tf.is_tensor(leaf)) and bool(getattr(leaf, "shape", None))


def _of_dataset(tf: Library, dataset: Dataset, steps: int | None, rows: Rows) -> FewBatches | None:
    """The first batches of a dataset with batches of known size, except the last."""
    first = tf.nest.flatten(dataset.element_spec)[0]
    size = first.shape[0] if first.shape.rank else None
    batches = int(steps) if steps is not None else int(dataset.cardinality())
    examples = batches * size if size is not None else None
    if steps is None and (batches == _UNKNOWN or examples is None):
        size, examples = _counted(tf, dataset) or (None, None)
        batches = -(-examples // size) if size and examples is not None else 0
    if size is None or examples is None or _is_short(batches, rows):
        return None
    given = rows.batches if steps is not None else None
    few = hooks.quietly(thin_batches.thinned, tf, dataset, rows.of, thin_batches.few_of)
    if few is None:
        few = dataset if rows.whole else dataset.map(_cut(tf, rows.of(size)))
    return FewBatches(few.take(rows.batches), batches, examples, given)


def _cut(tf: Library, rows: int) -> Call:
    """Takes the first rows of each part of a batch."""

    def part(tensor: Any) -> object:
        return tensor[:rows] if tensor.shape.rank else tensor

    return thin_batches.by_part(tf, part)


def _counted(tf: Library, dataset: Dataset) -> tuple[int, int] | None:
    """A dataset's batch size and examples, without its maps' work."""
    while _HANDS_ON.match(type(dataset).__name__):
        dataset = privates.inputs(dataset)[0]
    if not _BATCHES.match(type(dataset).__name__):
        return None
    size = int(privates.BATCH_SIZE.of(dataset))
    dropped = bool(tf.get_static_value(privates.DROP_REMAINDER.of(dataset)))
    (dataset,) = privates.inputs(dataset)
    while _HANDS_ON.match(type(dataset).__name__):
        dataset = privates.inputs(dataset)[0]
    # One more read than in the script: a generator may notice.
    interventions.note(InterventionKind.PREDICTIONS)
    examples = cardinality.elements(tf, dataset, COUNT_S)
    if examples is None:
        return None
    return size, (examples // size * size if dropped else examples)


def repeated(tf: Library, result: object, examples: int) -> object:
    """A prediction of the first batches, its rows repeated to the full length."""

    def leaf(rows: Any) -> object:
        if not getattr(rows, "shape", None) or not len(rows):
            return rows
        return rows[[number % len(rows) for number in range(examples)]]

    return tf.nest.map_structure(leaf, result)


def predict(
    tf: Library, original: Call, bound: inspect.BoundArguments, rows: Rows
) -> tuple[object, FewBatches] | None:
    """Predict the first batches only; None where all must be predicted."""
    given = bound.arguments
    # They may count the batches, or collect each one's result.
    if given.get("callbacks"):
        return None
    few = first_batches(tf, given.get("x"), given.get("batch_size"), given.get("steps"), rows)
    if few is None:
        return None
    interventions.note(InterventionKind.PREDICTIONS)
    given["x"] = few.data
    if few.steps is not None:
        given["steps"] = few.steps
    return repeated(tf, original(*bound.args, **bound.kwargs), few.examples), few
