"""Counts the elements of a costly transformation in one pass, where tf.data does not know it.

It knows neither the number of records in files nor, after a repeat, one pass.
"""

import re
import time
from dataclasses import replace
from typing import Any

from tpudiag.signals import Pipeline
from tpudiag.sources.job.points import Library, bounded_call, privates
from tpudiag.sources.job.points.library_objects import Dataset

LONGEST_S = 1.0
"""Enough for small data, which alone is worth caching."""
BATCH = 256
ENDLESS, UNKNOWN = -1, -2
"""tf.data's codes; the first one for an endless repeat, too."""
_HANDS_ON = re.compile(r"_?(Repeat|Shuffle|Prefetch|Options)")
"""What gives the same elements, each once or more."""


def counted(tf: Library, chain: list[Dataset], pipeline: Pipeline) -> Pipeline:
    """The pipeline with the elements of its costly op; unchanged where counting takes too long.

    One pass of the op's input is read, without the op's work, in a thread that may hang.
    """
    number = pipeline.worth_caching
    if number is None or len(chain) != len(pipeline.ops):
        return pipeline
    op = pipeline.ops[number]
    before = pipeline.ops[:number]
    is_map = op.kind in ("Map", "ParallelMap")
    if op.elements is not None or not is_map or any(each.python for each in before):
        return pipeline
    count = bounded_call.within(
        2 * LONGEST_S,
        lambda: elements(tf, below(privates.inputs(chain[number])[0], _HANDS_ON), LONGEST_S),
    )
    if count is None:
        return pipeline
    whole = replace(op, elements=count)
    return replace(pipeline, ops=(*before, whole, *pipeline.ops[number + 1 :]))


def below(dataset: Dataset, transformations: re.Pattern[str]) -> Dataset:
    """The dataset before transformations of these kinds."""
    while transformations.match(type(dataset).__name__):
        dataset = privates.inputs(dataset)[0]
    return dataset


def known(dataset: Any) -> int:
    """A dataset's elements according to tf.data, if known and finite."""
    try:
        # A method of tf.data's datasets, a property of a strategy's.
        cardinality: Any = dataset.cardinality
        cardinality = cardinality() if callable(cardinality) else cardinality
        return int(cardinality)
    except Exception:
        return UNKNOWN


def elements(tf: Library, dataset: Dataset, longest_s: float) -> int | None:
    """The elements of a dataset, None where it is endless or reading it takes longer."""
    cardinality = known(dataset)
    if cardinality != UNKNOWN:
        return None if cardinality == ENDLESS else cardinality

    # Elements are dropped inside tf.data: copying images to Python only to count them would take
    # too long.
    def one(*_: object) -> object:
        return tf.constant(1)

    end = time.perf_counter() + longest_s
    total = 0
    for ones in dataset.map(one).batch(BATCH):
        total += int(ones.shape[0])
        if time.perf_counter() > end:
            return None
    return total
