"""Which files a pipeline opens."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.job.tensorflow.input import files


@pytest.mark.parametrize(
    ("kind", "inside", "opens"),
    [
        ("TFRecord", [], True),
        ("ParallelMap", ["ReadFile"], True),
        ("Interleave", ["TFRecordDatasetV2"], True),
        ("ParallelMap", ["DecodeJpeg"], False),
        ("Shuffle", [], False),
    ],
)
def test_what_opens_files(kind: str, inside: list[str], opens: bool) -> None:
    assert files.opens(kind, inside) is opens


class _FlatMapDataset:
    pass


class _ParallelInterleaveDataset:
    pass


def test_files_read_one_after_the_other() -> None:
    one = SimpleNamespace(_impl=_FlatMapDataset())
    many = SimpleNamespace(_impl=_ParallelInterleaveDataset())
    assert files.one_by_one(one, "TFRecord", [])
    assert not files.one_by_one(many, "TFRecord", [])
    assert files.one_by_one(None, "FlatMap", ["TFRecordDatasetV2"])
    assert not files.one_by_one(None, "ParallelMap", ["TFRecordDatasetV2"])


class _Concatenate:
    def __init__(self, *parents: Any) -> None:
        self._parents = parents

    def _inputs(self) -> tuple[Any, ...]:
        return self._parents


class _Zip(_Concatenate):
    pass


def _source(*names: str) -> Any:
    class Tensor:
        dtype = SimpleNamespace(name="string")

        def numpy(self) -> Any:
            return np.array([name.encode() for name in names], dtype=object)

    return SimpleNamespace(_inputs=tuple, _tensors=[Tensor()])


def test_names_of_files_behind_a_dataset() -> None:
    one, other = _source("a", "b"), _source("c")
    after: Any = _Concatenate(one, other)
    beside: Any = _Zip(one, other)
    unknown: Any = object()
    joined, side_by_side = files.named(after), files.named(beside)
    assert joined is not None and (joined.count, joined.paths) == (3, ("a", "b", "c"))
    assert side_by_side is not None and side_by_side.count == 2, "features beside their labels"
    empty: Any = SimpleNamespace(_inputs=tuple)
    assert files.named(empty) is None
    assert files.named(unknown) is None, "another version's dataset is no file"


def test_where_a_cache_lies() -> None:
    in_memory = SimpleNamespace(_filename=SimpleNamespace(numpy=lambda: b""))
    on_disk = SimpleNamespace(_filename=SimpleNamespace(numpy=lambda: b"/tmp/cache"))
    assert files.cache_file(in_memory) == ""
    assert files.cache_file(on_disk) == "/tmp/cache"
    assert files.cache_file(object()) == ""
