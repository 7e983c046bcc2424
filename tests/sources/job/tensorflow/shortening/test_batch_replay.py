"""Loops over data that go on with the last batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import itertools, json
import tensorflow as tf
from tensorflow.python.data.ops import iterator_ops
from tpudiag.sources.job.tensorflow.shortening import batch_replay

batch_replay.FIRST_READ_S = batch_replay.LATER_READ_S = 0.0
batch_replay.FIRST_PASS_BATCHES, batch_replay.LATER_PASS_BATCHES = 30, 5
replay = batch_replay.BatchReplay(tf, lambda: None)

def data(known):
    made = tf.data.Dataset.range(50)
    return made if known else made.filter(lambda x: x >= 0)

def numbers(dataset):
    read = []
    for x in dataset:
        replay.fed((x,))
        read.append(int(x))
    return read

results = {"before": numbers(data(True))}
replay.begin()
results["known"] = numbers(data(True))
results["unknown"] = numbers(data(False))
iterator, by_next = iter(data(False)), []
for _ in range(200):
    x = next(iterator)
    replay.fed((x,))
    by_next.append(int(x))
results["next"] = by_next
results["not fed"] = [int(x) for x in data(True)]
made = []
owned = iterator_ops.OwnedIterator
init = owned.__init__
owned.__init__ = lambda self, *given, **named: made.append(1) or init(self, *given, **named)
results["epochs"] = [len(numbers(data(True))) for _ in range(20)]
results["iterators"] = len(made)
replay.suspended = True
results["suspended"] = numbers(data(False))
print(json.dumps(results))
"""


def test_lengths_that_are_known_are_kept(in_tensorflow: Callable[[str], Any]) -> None:
    results = in_tensorflow(PROGRAM)
    whole = list(range(50))
    assert results["before"] == results["not fed"] == results["suspended"] == whole
    assert len(results["known"]) == 50 and set(results["known"]) < set(whole)
    assert 30 <= len(results["unknown"]) < 50, "a for loop over it sees its end"
    assert results["epochs"] == [50] + [5] * 19 and results["iterators"] < 5, "none unread"
    assert len(results["next"]) == 200 and len(set(results["next"])) < 5, "next never does"
