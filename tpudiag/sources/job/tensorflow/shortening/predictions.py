"""Shortens Keras' predict: a few batches are predicted, and represent all that follow.

A prediction has a row per example, and scripts rely on it: the rows of the first batches are
repeated to the length of the data.
"""

import inspect
import math
import operator
import re
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
_HANDS_ON = re.compile(r"_?(Parallel)?(Map|Prefetch|Options|Shuffle|Cache|AssertCardinality)")
_MORE_OR_LESS = re.compile(f"{_HANDS_ON.pattern}|_?(Repeat|Take|Skip)")
_BATCHES = re.compile(r"_?(Parallel)?Batch")


def predict(
    tf: Library, original: Call, bound: inspect.BoundArguments, real: int = 1, replicas: int = 1
) -> tuple[object, int, int] | None:
    """Predict the first batches only: the result, and how many of how many; None for all.

    Where fewer replicas are `real`, their examples of one batch stand for all.
    """
    given, whole = bound.arguments, real == replicas
    data: Any = given.get("x")
    steps = given.get("steps")
    # Callbacks may count the batches, or collect each one's result.
    known = (
        _length(tf, data, given.get("batch_size"), steps) if not given.get("callbacks") else None
    )
    if known is None:
        return None
    size, examples = known
    batches, few = -(-examples // size), BATCHES if whole else 1
    if batches < (LEAST_BATCHES if whole else 1):
        return None

    def rows(batch: int) -> int:
        return max(batch * real // replicas, 1)

    def first(part: Any) -> object:
        return part[: rows(size)] if part.shape.rank else part

    interventions.note(InterventionKind.PREDICTIONS)
    if isinstance(data, tf.data.Dataset):
        thin: Any = hooks.quietly(thin_batches.thinned, tf, data, rows, thin_batches.few_of)
        if thin is None:
            thin = data if whole else data.map(thin_batches.by_part(tf, first))
        given["x"] = thin.take(few)
    else:
        given["x"] = tf.nest.map_structure(operator.itemgetter(slice(few * rows(size))), data)
    if steps is not None:
        given["steps"] = few

    def repeated(leaf: Any) -> object:
        if not getattr(leaf, "shape", None) or not len(leaf):
            return leaf
        return leaf[[number % len(leaf) for number in range(examples)]]

    result = original(*bound.args, **bound.kwargs)
    return tf.nest.map_structure(repeated, result), min(few, batches), batches


def batch_of(tf: Library, data: Any, asked: int | None) -> int | None:
    """The examples of a batch that Keras makes of arrays, or that a dataset has."""
    if not isinstance(data, tf.data.Dataset):
        arrays = all(hasattr(each, "shape") for each in tf.nest.flatten(data))
        return asked or KERAS_BATCH if arrays else None
    batched = cardinality.below(data, _MORE_OR_LESS)
    known = _BATCHES.match(type(batched).__name__)
    return _static(tf, data) or (int(privates.BATCH_SIZE.of(batched)) if known else None)


def _static(tf: Library, data: Dataset) -> int | None:
    """A dataset's batch, where its spec tells."""
    shape = tf.nest.flatten(data.element_spec)[0].shape
    return shape[0] if shape.rank else None


def _length(tf: Library, data: Any, asked: int | None, steps: int | None) -> tuple[int, int] | None:
    """The batch of arrays, or of a dataset, and its examples; None for other data."""
    size, most = batch_of(tf, data, asked), math.inf if steps is None else math.ceil(steps)
    if isinstance(data, tf.data.Dataset):
        batches = cardinality.known(data)
        if batches == cardinality.ENDLESS:
            return (size, int(most) * size) if size and steps else None
        known = None if batches == cardinality.UNKNOWN else _static(tf, data)
        counted = (known, batches * known) if known else _counted(tf, data)
        return counted and (counted[0], int(min(counted[1], most * counted[0])))
    leaves = tf.nest.flatten(data)
    for leaf in leaves:
        array = type(leaf).__module__ == "numpy" and type(leaf).__name__ == "ndarray"
        if not ((array or tf.is_tensor(leaf)) and getattr(leaf, "shape", None)):
            return None
    if steps is not None or len({len(leaf) for leaf in leaves}) != 1:
        return None
    return int(asked or KERAS_BATCH), len(leaves[0])


def _counted(tf: Library, dataset: Dataset) -> tuple[int, int] | None:
    """A dataset's batch size and examples, without its maps' work."""
    dataset = cardinality.below(dataset, _HANDS_ON)
    if not _BATCHES.match(type(dataset).__name__):
        return None
    size = int(privates.BATCH_SIZE.of(dataset))
    dropped = bool(tf.get_static_value(privates.DROP_REMAINDER.of(dataset)))
    dataset = cardinality.below(privates.inputs(dataset)[0], _HANDS_ON)
    # One more read than in the script: a generator may notice.
    interventions.note(InterventionKind.PREDICTIONS)
    examples = cardinality.elements(tf, dataset, COUNT_S)
    if examples is None:
        return None
    return size, (examples // size * size if dropped else examples)
