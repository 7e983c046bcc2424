"""Lines of a notebook's program lead back to its cells."""

from tpudiag.location import Location, parsed
from tpudiag.sources.cell_lines import CellMap

CELLS = CellMap("train.ipynb", "logs/notebook.py", (1, 4, 10))


def test_a_line_is_found_in_its_cell() -> None:
    assert [CELLS.place(line) for line in (1, 3, 4, 9, 10, 99)] == [
        (1, 1),
        (1, 3),
        (2, 1),
        (2, 6),
        (3, 1),
        (3, 90),
    ]


def test_locations_anywhere_in_a_fact_are_relocated() -> None:
    fact = [{"at": {"file": "logs/notebook.py", "line": 5}}, {"file": "helper.py", "line": 5}]
    assert CELLS.relocated(fact) == [
        {"at": {"file": "train.ipynb", "line": 2, "cell": 2}},
        {"file": "helper.py", "line": 5},
    ]


def test_lines_that_were_not_reached_are_relocated() -> None:
    fact = {"file": "logs/notebook.py", "first_line": 5, "last_line": 7, "text": "model.save("}
    assert CELLS.relocated(fact) == {
        "file": "train.ipynb",
        "first_line": 2,
        "last_line": 4,
        "cell": 2,
        "text": "model.save(",
    }


def test_a_traceback_names_the_cells() -> None:
    text = 'File "logs/notebook.py", line 11, in <module>\nFile "helper.py", line 11, in run'
    assert CELLS.relocated(text) == (
        'File "train.ipynb", cell 3, line 2, in <module>\nFile "helper.py", line 11, in run'
    )


def test_a_line_as_text_is_named_by_its_cell_and_read_again() -> None:
    named = CELLS.named(f"{CELLS.file}:{CELLS.cells[1] + 2}")
    assert named == f"{CELLS.notebook}, cell 2, line 3"
    assert parsed(named) == Location(CELLS.notebook, 3, 2)
    assert CELLS.named("helpers.py:4") == "helpers.py:4"
    said = f"what the model is given at {CELLS.file}:6, and `step` at helpers.py:4 (2 s)"
    assert CELLS.relocated(said) == (
        "what the model is given at train.ipynb, cell 2, line 3, and `step` at helpers.py:4 (2 s)"
    )
