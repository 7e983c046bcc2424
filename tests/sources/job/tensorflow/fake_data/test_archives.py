"""What a script unpacks of a stand-in is as if it were there."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from tpudiag.sources.job.tensorflow.fake_data import archives, paths
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger
from tpudiag.sources.job.tensorflow.fake_data.text_files import archive


def test_a_stand_in_that_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[str] = []
    monkeypatch.setattr(paths, "_unpacked", known)
    monkeypatch.setattr(zipfile.ZipFile, "extractall", zipfile.ZipFile.extractall)
    monkeypatch.setattr(tarfile.TarFile, "extractall", tarfile.TarFile.extractall)
    monkeypatch.setattr(shutil, "rmtree", shutil.rmtree)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    ledger = Ledger(str(tmp_path / "stand-ins"), lambda **_: None)  # pyright: ignore
    archives.install(ledger)
    own = tmp_path / "own.zip"
    zipfile.ZipFile(own, "w").close()
    with zipfile.ZipFile(own) as file:
        file.extractall("own")
    assert not paths.is_hosted("own/spa.txt")
    with zipfile.ZipFile(archive(ledger, "spa.zip")) as file:
        file.extractall()
    assert paths.is_hosted("spa/spa.txt") and paths.is_hosted(str(tmp_path / "work" / "spa.txt"))
    assert not paths.is_hosted(str(tmp_path / "spa.txt"))
    shutil.rmtree("spa/train/unused")  # a part that a script does without
    own_folder = tmp_path / "work" / "mine"
    own_folder.mkdir()
    shutil.rmtree(own_folder)
    assert not own_folder.exists()
