"""A notebook becomes plain Python, line for line."""

import json
from pathlib import Path

import pytest

from tpudiag.errors import UnreadableInput
from tpudiag.sources import notebook


def saved(folder: Path, *cells: str, **metadata: object) -> str:
    """A notebook of these code cells, with a page of text before them."""
    of_code: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    code: list[object] = [{**of_code, "source": cell} for cell in cells]
    text: dict[str, object] = {"cell_type": "markdown", "metadata": {}, "source": ["# A title\n"]}
    whole: dict[str, object] = {
        "nbformat": 4,
        "nbformat_minor": 2,
        "metadata": metadata,
        "cells": [text, *code],
    }
    file = folder / "train.ipynb"
    file.write_text(json.dumps(whole))
    return str(file)


def test_cells_keep_their_lines(tmp_path: Path) -> None:
    source = notebook.read(saved(tmp_path, "a = 1\nb = 2", "", "\n\nc = 3"))
    assert source.program == "a = 1\nb = 2\n\n\nc = 3\n"
    assert source.cells == (1, 3)
    assert source.skipped == ()


@pytest.mark.parametrize(
    "cell",
    [
        "  def f(x):\n    return x\n\n  y = f(1)",
        "\n    @property\n    def f(x): return x\n    y = f",
        ">>> def f(x):\n...     return x\n>>> y = f(1)",
        "In [3]: f = len\nIn [4]: y = f",
    ],
)
def test_what_ipython_takes_off_a_cell_is_taken_off(tmp_path: Path, cell: str) -> None:
    source = notebook.read(saved(tmp_path, cell))
    compile(source.program, "program", "exec")
    assert len(source.program.splitlines()) == len(cell.splitlines())
    assert source.program.splitlines()[-1].startswith("y = f")


@pytest.mark.parametrize("cell", ["pwd", "pip install x", "\nls -la data", "ls /content/work"])
def test_magics_of_one_line_need_no_sign(tmp_path: Path, cell: str) -> None:
    source = notebook.read(saved(tmp_path, cell))
    compile(source.program, "program", "exec")
    assert [line.text for line in source.skipped] == [f"%{cell.strip()}"]


@pytest.mark.parametrize("cell", ["ls = 3", "run(1)", "env[0]", "less", "mv.x", "pip"])
def test_a_name_that_the_notebook_uses_is_no_magic(tmp_path: Path, cell: str) -> None:
    name = cell[:4].strip("=([.")
    source = notebook.read(saved(tmp_path, f"{name} = 1", cell))
    assert source.program.splitlines()[-1] == cell


@pytest.mark.parametrize(
    ("cell", "line", "skipped"),
    [
        ("!pip install x\nmark = 1", 2, "!pip install x"),
        ("!pip install \\\n   x y\nmark = 1", 3, "!pip install \\"),
        ("%matplotlib inline\nmark = 1", 2, "%matplotlib inline"),
        ("if 1:\n    !ls\nmark = 1", 3, "!ls"),
        ("files = !ls\nmark = 1", 2, "files = !ls"),
        ("help?\nmark = 1", 2, "help?"),
        ("text = '''\n!no command\n'''\nmark = 1", 4, None),
        ("%%time\nmark = 1", 2, None),
        ("\n%%capture output\n!ls\nmark = 1", 4, "!ls"),
        ("# stays awake\n\n%%time\nmark = 1", 4, None),
        ("%time mark = 1", 1, None),
        ("%timeit -n 1 -r 1 mark = 1", 1, None),
        ("ls = 1\nmark = 1", 2, None),
        ("!wget -q\\\r\n  a.csv\r\nmark = 1", 3, "!wget -q\\"),
    ],
)
def test_commands_are_left_out_and_move_nothing(
    tmp_path: Path, cell: str, line: int, skipped: str | None
) -> None:
    source = notebook.read(saved(tmp_path, cell))
    compile(source.program, "program", "exec")
    assert "mark = 1" in source.program.splitlines()[line - 1]
    assert [s.text for s in source.skipped] == ([skipped] if skipped else [])


def test_a_cell_for_another_program_is_left_out_whole(tmp_path: Path) -> None:
    source = notebook.read(saved(tmp_path, "%%bash\nrm -rf build; for\n", "a = 1"))
    compile(source.program, "program", "exec")
    assert [str(line) for line in source.skipped] == ["cell 1, line 1: %%bash"]
    source = notebook.read(saved(tmp_path, "# keeps it open\n%%javascript\nlet a;", "a = 1"))
    assert [str(line) for line in source.skipped] == ["cell 1, line 2: %%javascript"]
    assert source.program.splitlines()[source.cells[1] - 1] == "a = 1"


def test_a_module_that_a_cell_writes_is_written(tmp_path: Path) -> None:
    source = notebook.read(saved(tmp_path, "%%writefile helper.py\nx = '\\n'\n", "import helper"))
    assert source.program.splitlines()[0].startswith("get_ipython().write_file('helper.py'")
    assert source.cells[1] == 4


@pytest.mark.parametrize(
    "text", ["{}", "no JSON", '{"nbformat": 9, "cells": []}', "[]", '{"nbformat": 4}', ""]
)
def test_what_is_no_notebook_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.ipynb"
    file.write_text(text)
    with pytest.raises(UnreadableInput, match=r"bad\.ipynb") as error:
        notebook.read(str(file))
    assert "\n" not in str(error.value)


def test_a_notebook_in_another_language_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, "x <- 1", kernelspec={"name": "ir", "language": "R"})
    with pytest.raises(UnreadableInput, match="notebook in r, not Python"):
        notebook.read(path)


@pytest.mark.parametrize(
    ("text", "checked"),
    [
        ("!python train.py --tpu=local --epochs 3 > log.txt", "train.py -- --tpu=local --epochs 3"),
        ("!cd repo && python3 -u -m trainer.task \\", "-m trainer.task"),
        ("python3.10 tools/run.py", "tools/run.py"),
        ("!python -m pip install tensorflow", None),
        ("!python -c 'import tensorflow'", None),
        ("!pip install python-dateutil", None),
    ],
)
def test_a_program_that_the_shell_starts_is_named(text: str, checked: str | None) -> None:
    assert notebook.python_command(text) == checked


def test_what_a_cell_for_the_shell_starts_is_listed(tmp_path: Path) -> None:
    cell = "%%bash\nexport TPU=a\npython3 -m trainer.task --tpu=$TPU\nls"
    source = notebook.read(saved(tmp_path, "a = 1", cell))
    assert [str(each) for each in source.skipped] == [
        "cell 2, line 1: %%bash",
        "cell 2, line 3: python3 -m trainer.task --tpu=$TPU",
    ]
    assert source.program == "a = 1\n\n\n\n\n"
