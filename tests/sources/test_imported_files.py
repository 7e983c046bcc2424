"""The user's files that a program imports are found as Python finds them."""

import ast
from pathlib import Path

import pytest

from tpudiag.sources.imported_files import helpers

FILES = {
    "trainer/__init__.py": "from trainer.loop import run\n",
    "trainer/__main__.py": "from trainer import run\n",
    "trainer/last.py": "",
    "trainer/loop.py": "from .parts import keeper\n",
    "trainer/parts/__init__.py": "",
    "trainer/parts/keeper.py": "from ..last import keep\n",
    "scripts/train.py": "import trainer, numpy\n",
    "loop.py": "another one of that name\n",
}


@pytest.mark.parametrize("program", ["trainer/__main__.py", "scripts/train.py"])
def test_absolute_and_relative_imports_of_packages_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    found = {
        Path(name).relative_to(tmp_path).as_posix()
        for name, _ in helpers(str(tmp_path / program), ast.parse(FILES[program]))
    }
    assert found == {name for name in FILES if name.startswith("trainer/") and "main" not in name}
