"""Pictures of a notebook host that is not here."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger
from tpudiag.sources.job.tensorflow.fake_data.pictures import Pictures


def test_a_picture_that_is_not_there_is_one_and_others_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put(**_: Any) -> None:
        """Nobody asks what was stood in for."""

    def start(file: Any) -> bytes:
        return Path(file).read_bytes()[:2]

    image: Any = SimpleNamespace(open=start)
    monkeypatch.setitem(sys.modules, "PIL", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "PIL.Image", image)
    mine = tmp_path / "mine.png"
    mine.write_bytes(b"PNG")
    Pictures(Ledger(str(tmp_path), put)).watch_pil(image)
    assert image.open("/kaggle/input/a/b.png") == b"\xff\xd8"
    assert image.open(mine) == b"PN"
