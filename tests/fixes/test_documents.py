import json
from pathlib import Path
from typing import Any

import pytest

from tpudiag.fixes import documents
from tpudiag.fixes.edits import Edit, NoChange
from tpudiag.model import Location
from tpudiag.source_change import Replacement


def notebook(folder: Path, sources: list[Any], **layout: Any) -> documents.NotebookCells:
    head: dict[str, Any] = {"cell_type": "markdown", "metadata": {}, "source": ["# é"]}
    code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": []}
    cells = [head, *({**code, "source": source} for source in sources)]
    document: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    options: dict[str, Any] = {"indent": 1, "ensure_ascii": False} | layout
    text = json.dumps(document, **options) + "\n"
    (folder / "train.ipynb").write_text(text, encoding="utf-8")
    plain = ["".join(s).replace("!ls", "pass").replace("    \n", "\n") for s in sources]
    starts = [1]
    for each in plain[:-1]:
        starts.append(starts[-1] + each.count("\n") + 1)
    program = "\n".join(plain) + "\n"
    name = str(folder / "train.ipynb")
    return documents.notebook(name, folder, program, tuple(starts))


def test_a_cell_is_changed_and_the_rest_of_the_json_stays(tmp_path: Path) -> None:
    book = notebook(tmp_path, [["import tensorflow as tf\n", "x = 1"], "ds = ds.batch(8)\nds"])
    at = book.source.text.index("8)") + 1
    before = (tmp_path / "train.ipynb").read_text(encoding="utf-8")
    after = book.changed([Edit(at, at, ", True")]).decode()
    assert after == before.replace("ds.batch(8)", "ds.batch(8, True)")
    assert book.line(Location("train.ipynb", 1, 2)) == 3


def test_a_line_at_the_end_of_a_cell_is_added_there(tmp_path: Path) -> None:
    book = notebook(tmp_path, [["a = 1\n", "ds = a"], ["b = 2"]])
    at = book.source.text.index("b = 2")
    [edit] = [Edit(at - 1, at - 1, "\nds = 3")]
    cells = json.loads(book.changed([edit]))["cells"]
    assert cells[1]["source"] == ["a = 1\n", "ds = a\n", "ds = 3"]
    assert cells[2]["source"] == ["b = 2"]


def test_spaces_on_a_blank_line_are_no_commands(tmp_path: Path) -> None:
    book = notebook(tmp_path, [["a = [\n", "    \n", "    1,\n", "    \n", "    2]"]])
    begins, ends = (book.source.text.index(each) for each in "12")
    cells = json.loads(book.changed([Edit(begins, ends + 1, "3, 4")]))["cells"]
    assert cells[1]["source"] == ["a = [\n", "    \n", "    3, 4]"]


def test_commands_of_a_cell_stay(tmp_path: Path) -> None:
    book = notebook(tmp_path, [["!ls\n", "x = 1\n", "y = 2"]])
    at = book.source.text.index("1")
    [_, cell] = json.loads(book.changed([Edit(at, at + 1, "3")]))["cells"]
    assert cell["source"] == ["!ls\n", "x = 3\n", "y = 2"]
    with pytest.raises(NoChange, match="commands or magics"):
        book.checked([Edit(0, 2, "y")])


@pytest.mark.parametrize(
    "layout",
    [{"indent": 2, "ensure_ascii": True}, {"indent": None, "separators": (",", ":")}],
)
def test_another_layout_of_json_is_kept_or_refused(tmp_path: Path, layout: dict[str, Any]) -> None:
    book = notebook(tmp_path, ["x = 1"], **layout)
    before = (tmp_path / "train.ipynb").read_text(encoding="utf-8")
    assert book.changed([Edit(4, 5, "2")]).decode() == before.replace("x = 1", "x = 2")
    odd = notebook(tmp_path, ["x = 1"], separators=(" , ", " : "))
    with pytest.raises(NoChange, match="layout"):
        odd.checked([Edit(4, 5, "2")])


def test_edits_are_told_by_lines_and_columns(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("é = 1\nds = ds.batch(8)\n", encoding="utf-8")
    script = documents.script(str(tmp_path / "train.py"), tmp_path)
    assert script.replacements([Edit(20, 20, ", True")]) == (
        Replacement(line=2, column=15, end_line=2, end_column=15, text=", True"),
    )
