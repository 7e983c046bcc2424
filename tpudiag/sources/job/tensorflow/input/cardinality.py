"""Counts what a costly transformation gives in one pass, where tf.data does not say it.

It does not know how many records files hold, nor, behind a repeat, what one pass is.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

from tpudiag.signals import Pipeline
from tpudiag.sources.job.points import Library, bounded_call, privates
from tpudiag.sources.job.points.library_objects import Dataset

LONGEST_S = 1.0
"""Small data, which alone is worth caching, is counted within it."""
BATCH = 256
ENDLESS, UNKNOWN = -1, -2
_HANDS_ON = re.compile(r"_?(Repeat|Shuffle|Prefetch|Options)")


def counted(tf: Library, chain: list[Dataset], pipeline: Pipeline) -> Pipeline:
    """The pipeline with the elements of its costly op; as it was where they are not soon counted.

    What one pass gives to the op is read once, without its work, beside the caller: it may hang.
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
        2 * LONGEST_S, lambda: elements(tf, _one_pass(privates.inputs(chain[number])[0]), LONGEST_S)
    )
    if count is None:
        return pipeline
    whole = replace(op, elements=count)
    return replace(pipeline, ops=(*before, whole, *pipeline.ops[number + 1 :]))


def _one_pass(dataset: Dataset) -> Dataset:
    """The dataset before it is repeated and shuffled: the same elements, each once."""
    while _HANDS_ON.match(type(dataset).__name__):
        dataset = privates.inputs(dataset)[0]
    return dataset


def known(dataset: Any) -> int:
    """The elements of a dataset as tf.data counts them; it may not know, or there is no end."""
    try:
        # A method of tf.data's datasets, a property of a strategy's.
        said: Any = dataset.cardinality
        said = said() if callable(said) else said
        return int(said)
    except Exception:
        return UNKNOWN


def elements(tf: Library, dataset: Dataset, longest_s: float) -> int | None:
    """The elements of a dataset, None where it is endless or reading it takes longer."""
    said = known(dataset)
    if said != UNKNOWN:
        return None if said == ENDLESS else said

    # The elements themselves are dropped inside tf.data: to copy images to Python only to count
    # them would cost more than the time that there is.
    def one(*_: object) -> object:
        return tf.constant(1)

    end = time.perf_counter() + longest_s
    total = 0
    for ones in dataset.map(one).batch(BATCH):
        total += int(ones.shape[0])
        if time.perf_counter() > end:
            return None
    return total
