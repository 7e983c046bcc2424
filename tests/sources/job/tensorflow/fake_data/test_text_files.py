"""Contents of the files that are stood in for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data import text_files
from tpudiag.sources.job.tensorflow.fake_data.ledger import FILES, RECORDS, Ledger


def ignored(**_: object) -> None:
    """Nobody asks what was stood in for."""


class Writer:
    """Writes a record a line."""

    def __init__(self, path: str, options: str | None = None) -> None:
        assert options is None
        self._file = Path(path).open("wb")  # noqa: SIM115

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, record: bytes) -> None:
        self._file.write(record + b"\n")


@pytest.mark.slow
def test_records_that_parse_to_much_are_few(tmp_path: Path) -> None:
    tf: Any = SimpleNamespace(io=SimpleNamespace(TFRecordWriter=Writer))
    ledger = Ledger(str(tmp_path), ignored)
    file = Path(text_files.records(tf, ledger))

    def held() -> int:
        return len(file.read_bytes().splitlines())

    text_files.keep_records_within(tf, ledger, 1000)
    assert held() == RECORDS
    text_files.keep_records_within(tf, ledger, 2**20)
    assert held() == 2**30 // 2**20 // FILES
    text_files.keep_records_within(tf, ledger, 2**30)
    text_files.keep_records_within(tf, ledger, 10)
    assert held() == 16
