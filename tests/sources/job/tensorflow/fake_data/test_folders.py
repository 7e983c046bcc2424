"""Folders that a notebook host mounts."""

from __future__ import annotations

import glob
import os
from pathlib import Path

import pytest

from tpudiag.sources.job.tensorflow.fake_data import folders
from tpudiag.sources.job.tensorflow.fake_data.folders import lists_folders
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger


@pytest.mark.parametrize(
    ("text", "nested"),
    [
        ("for c in os.listdir(p):\n  for f in os.listdir(p + c):\n    print(f)", True),
        ("for c in os.listdir(p):\n  n = len(glob.glob(c + '/*'))", True),
        ("for f in os.listdir(p):\n  read(f)", False),
        ("names = os.listdir(p)\nfor n in names:\n  read(n)", False),
        ("for (", False),
    ],
)
def test_folders_of_folders_are_listed_in_a_loop_of_a_loop(text: str, nested: bool) -> None:
    assert lists_folders([text]) is nested


def test_paths_of_a_notebook_host_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name in (
        (os, "listdir"), (os, "walk"), (glob, "glob"),
        (Path, "glob"), (Path, "rglob"), (Path, "iterdir"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(folders, "sources", list)  # no script, whatever else is imported
    things: list[tuple[str, ...]] = []

    def put(*, stood_in: tuple[str, ...], **_: object) -> None:
        things.append(stood_in)

    folders.install(Ledger(str(tmp_path), put))
    (tmp_path / "mine.txt").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert [path.name for path in tmp_path.glob("*")] == ["mine.txt"]
    scans = Path("../input/scans")
    assert [path.name for path in scans.glob("*")] == ["class_a", "class_b"]
    files = list(scans.glob("*/*.jpeg"))
    assert len(files) > 40
    assert {str(file.parent) for file in files} == {f"{scans}/class_a", f"{scans}/class_b"}
    assert all(file.suffix == ".jpg" for file in scans.iterdir())
    assert len(things[-1]) == 3
    monkeypatch.setattr(folders, "sources", lambda: ["id = name.split('_')[0]"])
    assert {name[-6:] for name in map(str, Path("../input/tiles").iterdir())} == {"_0.jpg"}
