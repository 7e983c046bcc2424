"""How the child process starts a program: as Python itself would."""

import gc
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from unittest.mock import MagicMock

import pytest

from tpudiag.sources.job.process import child

SHOWS = """
import os, pathlib, sys
os.chdir("/")
pathlib.Path(sys.argv[1]).write_text(repr([
    __file__, sys.argv[0], __name__, sys.modules["__main__"].__file__, sys.path[0],
    sys._getframe().f_code.co_filename, __spec__,
]))
"""


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["job.py", "job"])
def test_a_script_knows_its_whole_path_and_gets_its_arguments(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    file = tmp_path / "sub" / name
    file.write_text(SHOWS)
    child.run(f"sub/{name}", [str(tmp_path / "shown")])
    shown = eval((tmp_path / "shown").read_text())
    whole = str(file)
    assert shown == [whole, f"sub/{name}", "__main__", whole, str(file.parent), whole, None]


def test_a_folder_with_a_main_is_run(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text("open('ran', 'w').close()")
    child.run("app", [])
    assert (tmp_path / "ran").exists()


def test_what_cannot_be_parsed_is_named(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import = 3")
    with pytest.raises(SyntaxError) as raised:
        child.run("job.py", [])
    assert raised.value.filename == str(tmp_path / "job.py")


def test_a_library_is_loaded_without_a_search_for_garbage(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("import gc\nenabled = gc.isenabled()\nraise KeyError\n")
    loader = SourceFileLoader("tensorflow", str(tmp_path / "tensorflow.py"))
    module, told = ModuleType("tensorflow"), MagicMock()
    child._ImportWatch(told, told)._follow(loader, "tensorflow")  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(KeyError):
        loader.exec_module(module)
    assert vars(module)["enabled"] is False and gc.isenabled()
