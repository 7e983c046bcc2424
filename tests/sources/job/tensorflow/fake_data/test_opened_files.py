"""What Python reads of files that are not there."""

from __future__ import annotations

import builtins
import io
import json
from pathlib import Path

import pytest

from tpudiag.sources.job.tensorflow.fake_data import opened_files, paths
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger


def test_json_that_is_not_there_has_what_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name in ((builtins, "open"), (io, "open"), (json, "load")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    opened_files.install(Ledger(str(tmp_path), lambda **_: None))  # pyright: ignore
    with open("/kaggle/input/squad/train.json") as file:  # noqa: PTH123
        whole = json.load(file)
    context, answer = whole["data"][0]["paragraphs"][0]
    assert f"{context}" and len(answer["text"]) > 0


def test_a_path_reads_what_was_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in ((builtins, "open"), (io, "open"), (json, "load")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(paths, "_unpacked", [str(tmp_path / "texts")])
    opened_files.install(Ledger(str(tmp_path / "stand-ins"), lambda **_: None))  # pyright: ignore
    assert len((tmp_path / "texts" / "words.txt").read_text().splitlines()) > 99
    with pytest.raises(FileNotFoundError):
        (tmp_path / "words.txt").read_text()
