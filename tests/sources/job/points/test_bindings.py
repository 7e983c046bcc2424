"""Where what a call gets was made."""

import json
from pathlib import Path

import pytest

from tpudiag.sources.job.points.bindings import assigned, made_at, only_call

SCRIPT = """\
x = 0
def train(batches):
    for rows, y in batches:
        longest = max(map(len, rows))
        x, n = rows[:, :longest], longest
        pair = x, y
        loss = float(
            step(state, x, y)
        )
        step(state, y=y, x=x[0])
        step(*pair)
        step(state, stack(rows))
def other():
    step(state, x)
    held = Held(x)
    step(state, held.rows)
    step(state, held.pair)
class Held:
    def __init__(self, rows):
        self.rows, self.pair = sorted(rows), rows
    def swap(self):
        self.pair = None
"""


@pytest.mark.parametrize(
    ("line", "argument", "made"),
    [
        (8, "x", 5),
        (8, "x['ids']", 5),
        (8, "y", None),  # the loop's own
        (8, "state", None),  # of the module
        (10, "x", 5),
        (11, "x", 6),
        (12, "x", None),
        (14, "x", None),  # not bound here
        (16, "x", 20),  # an attribute that one statement sets
        (17, "x", 15),  # of two: what holds it
    ],
)
def test_the_statement_that_makes_an_argument(line: int, argument: str, made: int | None) -> None:
    assert assigned(SCRIPT, line, ("self", "state", "x", "y"), argument) == made


def test_a_text_that_is_no_python_has_none() -> None:
    assert assigned("!pip install x", 1, ("x",), "x") is None


def test_a_call_that_a_library_makes_says_nothing_of_where_its_arguments_are_made() -> None:
    names = ["parameters", "argument"]
    own = made_at(names, "parameters")
    assert own is not None and own.line == _line('names = ["parameters", "argument"]')
    heard: dict[str, object] = {}
    exec(
        compile("at = made_at(names, names[0])", json.__file__, "exec"), globals() | locals(), heard
    )
    assert heard == {"at": None}


def test_the_only_call_of_a_name() -> None:
    own = only_call("_called_once_in_all_tests")
    assert own is not None and own.line == _line("_called_once_in_all_tests()")
    assert only_call("_line") is None, "there are several"


def _called_once_in_all_tests() -> None:
    """Of this name is none elsewhere."""


_called_once_in_all_tests()


def _line(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == text)
