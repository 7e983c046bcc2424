"""Batches that a loop gets again, without TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow.batch_replay import WHOLE_PASSES, BatchReplay

BATCHES = 3


class Batch:
    """What a dataset gives."""


def replayed_job() -> tuple[Any, BatchReplay, list[int]]:
    """A TensorFlow whose datasets count their reads, and what replays them."""
    reads = [0]

    class Iterated:
        def __init__(self) -> None:
            self.left = BATCHES

        def __next__(self) -> Batch:
            if not self.left:
                raise StopIteration
            self.left -= 1
            reads[0] += 1
            return Batch()

        def __iter__(self) -> Iterator[Batch]:
            return self

    class Dataset:
        element_spec = "float32[8]"

        def __iter__(self) -> Iterated:
            return Iterated()

        def cardinality(self) -> int:
            return BATCHES

    tf: Any = SimpleNamespace(
        data=SimpleNamespace(Dataset=Dataset),
        nest=SimpleNamespace(flatten=lambda value: value if isinstance(value, tuple) else [value]),
        executing_eagerly=lambda: True,
    )
    return tf, BatchReplay(tf, lambda: None), reads


def test_a_dataset_that_each_epoch_makes_anew_is_read_in_the_first_of_them_alone() -> None:
    tf, replay, reads = replayed_job()
    for batch in tf.data.Dataset():
        replay.fed((batch,))
    replay.begin()
    lengths: list[int] = []
    reads_before: list[int] = []
    for _ in range(WHOLE_PASSES + 3):
        reads_before.append(reads[0])
        count = 0
        for batch in tf.data.Dataset():
            replay.fed((batch,))
            count += 1
        lengths.append(count)
    assert lengths == [BATCHES] * (WHOLE_PASSES + 3)
    assert reads[0] == reads_before[WHOLE_PASSES], "later epochs get the batch of an earlier one"
    assert reads_before[1] > reads_before[0]


def test_what_no_step_gets_is_read_as_it_is() -> None:
    tf, replay, reads = replayed_job()
    replay.begin()
    for _ in range(WHOLE_PASSES + 2):
        assert len(list(tf.data.Dataset())) == BATCHES
    assert reads[0] == BATCHES * (WHOLE_PASSES + 2)
