"""What Python reads of files that are not there."""

from __future__ import annotations

import builtins
import io
import json
from pathlib import Path

import pytest

from tpudiag.sources.job.tensorflow.fake_data import opened_files, paths, table_sizes
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger
from tpudiag.sources.job.tensorflow.fake_data.opened_files import GuessedJson


def test_guessed_json_has_what_is_asked_for() -> None:
    whole = GuessedJson()
    questions = [
        (paragraph["context"], answer["text"], answer["answer_start"])
        for item in whole["data"]
        for paragraph in item["paragraphs"]
        for answer in paragraph["answers"]
        if "text" in answer
    ]
    assert len(questions) == 16**3
    context, text, start = questions[0]
    assert isinstance(context, str) and isinstance(text, str) and start == 1
    assert whole["data"] is whole["data"]
    assert whole["image_id"] == 1
    assert isinstance(whole["captions"][0], str)


def test_the_shape_of_an_example_is_that_of_the_input() -> None:
    assert table_sizes.input_shape(["N = 28\nx = Input(shape=(N, N, 1))"]) == (28, 28, 1)
    assert table_sizes.input_shape(["m = Conv2D(8, 3, input_shape=size)"]) == (32, 32, 3)


def test_a_path_reads_what_was_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in ((builtins, "open"), (io, "open"), (json, "load")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(paths, "_unpacked", [str(tmp_path / "texts")])
    opened_files.install(Ledger(str(tmp_path / "stand-ins"), lambda **_: None))  # pyright: ignore
    assert len((tmp_path / "texts" / "words.txt").read_text().splitlines()) > 99
    with pytest.raises(FileNotFoundError):
        (tmp_path / "words.txt").read_text()
