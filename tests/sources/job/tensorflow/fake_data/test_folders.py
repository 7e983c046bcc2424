"""Folders that a notebook host mounts."""

from __future__ import annotations

import glob
import os
from pathlib import Path

import pytest

from tpudiag.sources.job.tensorflow.fake_data import folders
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger


def test_paths_of_a_notebook_host_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name in (
        (os, "listdir"), (os, "walk"), (glob, "glob"),
        (Path, "glob"), (Path, "rglob"), (Path, "iterdir"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, getattr(owner, name))
    things: list[tuple[str, ...]] = []

    def put(*, stood_in: tuple[str, ...], **_: object) -> None:
        things.append(stood_in)

    folders.install(Ledger(str(tmp_path), put))
    (tmp_path / "mine.txt").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert [path.name for path in tmp_path.glob("*")] == ["mine.txt"]
    scans = Path("../input/scans")
    files = list(scans.glob("*/*.jpeg"))
    assert len(files) == 1024
    assert {str(file.parent) for file in files} == {f"{scans}/class_a", f"{scans}/class_b"}
    assert all(file.suffix == ".jpg" for file in scans.iterdir())
    assert [name for name, _, _ in os.walk(str(scans))][1:] == [
        f"{scans}/class_a",
        f"{scans}/class_b",
    ]
    assert len(things[-1]) == 2
