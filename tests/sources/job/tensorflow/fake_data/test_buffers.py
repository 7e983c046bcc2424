"""Shuffle buffers of data that is stood in for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import interventions
from tpudiag.sources.job.tensorflow.fake_data import buffers
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger
from tpudiag.sources.job.tensorflow.input.dataset_reader import ASKED_BUFFER

ROW = 8


class Dataset:
    """A dataset that keeps how it was shuffled."""

    def __init__(self, held: int = 0, rows: int = 0) -> None:
        self.held = held
        self.element_spec = SimpleNamespace(shape=(ROW,), dtype=SimpleNamespace(size=1))
        self.rows = rows

    def cardinality(self) -> Any:
        return SimpleNamespace(numpy=lambda: self.rows)

    def skip(self, count: int) -> Dataset:
        return Dataset(rows=self.rows - count)

    def shuffle(self, buffer_size: int, seed: int | None = None) -> Dataset:
        del seed
        return Dataset(buffer_size)

    def prefetch(self, buffer_size: int) -> Dataset:
        return Dataset(buffer_size)


def test_a_large_buffer_holds_few_stand_ins_and_is_read_as_it_was_asked_for(
    tmp_path: Path, as_tensorflow: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def put(**_: object) -> None:
        """Nobody asks what was stood in for."""

    ledger = Ledger(str(tmp_path), put)

    def flatten(spec: object) -> list[object]:
        return [spec]

    nest = SimpleNamespace(flatten=flatten)
    as_tensorflow(SimpleNamespace(nest=nest, data=SimpleNamespace(Dataset=Dataset)))
    buffers.install(ledger)
    assert Dataset().shuffle(2048).held == 2048, "the data is there"
    assert Dataset(rows=9).skip(80).rows < 0
    ledger.note("gs://bucket/*.tfrec")
    large = Dataset().shuffle(2048, seed=1)
    assert (large.held, vars(large)[ASKED_BUFFER]) == (buffers.MOST, 2048)
    assert Dataset().prefetch(-1).held == Dataset().prefetch(9).held == buffers.AHEAD
    assert Dataset().prefetch(1).held == 1
    monkeypatch.setattr("tests.sources.job.tensorflow.fake_data.test_buffers.ROW", 1 << 30)
    assert Dataset().prefetch(-1).held == Dataset().shuffle(9).held == 1, "batches of gigabytes"
    monkeypatch.undo()
    assert Dataset().shuffle(buffer_size=8).held == 8
    with interventions.without(InterventionKind.SHUFFLES):
        assert Dataset().shuffle(2048).held == 2048
        assert Dataset(rows=9).skip(80).rows < 0
    assert [Dataset(rows=9).skip(4).rows, Dataset(rows=9).skip(80).rows] == [5, 9], "none is left"
    assert Dataset(rows=-2).skip(80).rows == -2, "only reading counts them"
