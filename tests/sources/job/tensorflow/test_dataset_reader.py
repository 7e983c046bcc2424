"""The chain of a dataset, without TensorFlow."""

from __future__ import annotations

from typing import Any

from tpudiag.sources.job.tensorflow.dataset_reader import DatasetReader


class Prefetch:
    """A dataset made from another."""

    def __init__(self, *inputs: Any) -> None:
        self._made_from = inputs

    def _inputs(self) -> tuple[Any, ...]:
        return self._made_from


class DatasetV1Adapter(Prefetch):
    """What holds a dataset for scripts of TensorFlow 1, and passes for its inputs' reader."""

    def __init__(self, dataset: Prefetch) -> None:
        super().__init__(*dataset._inputs())
        self._dataset = dataset


def test_what_holds_a_dataset_for_tensorflow_1_is_no_transformation() -> None:
    source = Prefetch()
    prefetched = Prefetch(DatasetV1Adapter(source))
    assert DatasetReader(None).chain(DatasetV1Adapter(prefetched)) == [source, prefetched]
