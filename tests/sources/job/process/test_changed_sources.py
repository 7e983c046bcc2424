"""Changed sources that stand in for files."""

import importlib
import inspect
import sys
from pathlib import Path

import pytest

from tpudiag.sources.job.points import hooks
from tpudiag.sources.job.process import changed_sources


def test_the_changed_source_runs_as_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed_sources, "_changed", {})
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    file, other = tmp_path / "overlaid_module.py", tmp_path / "plain_module.py"
    file.write_text("def f():\n    return 'as it is on disk'\n")
    other.write_text("x = 'as it is'\n")
    changed = tmp_path / "changed.txt"
    changed.write_bytes(
        "# coding: latin-1\ndef f():\n    return 'ge\u00e4ndert'\n".encode("latin-1")
    )
    changed_sources.install([(str(file), str(changed))])
    module = importlib.import_module("overlaid_module")
    plain = importlib.import_module("plain_module")
    monkeypatch.delitem(sys.modules, "overlaid_module")
    monkeypatch.delitem(sys.modules, "plain_module")
    assert module.f() == "ge\u00e4ndert"
    assert plain.x == "as it is"
    assert module.__file__ == str(file)
    assert "ge\u00e4ndert" in inspect.getsource(module.f)
    assert "on disk" in file.read_text()
    assert changed_sources.source(str(other)) is None
    hooks.undo()
