"""Statements of functions, classes and modules that fail for lack of data."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sources.job.tensorflow.fake_data.run_statements import of_keras, ran
from tpudiag.sources.job.points import user_lines
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger
from tpudiag.sources.job.tensorflow.fake_data.statements import Statements

pytest.importorskip("numpy")


AGED = """
rows = open("/nowhere/rows").read()
def drawn(width):
    return {}.drawn(width)
drawn(3)
"""


def test_what_has_no_such_name_ends_the_script_where_no_hole_is_in_sight(tmp_path: Path) -> None:
    with pytest.raises(AttributeError, match="drawn"):
        ran(tmp_path, AGED)
    assert ran(tmp_path, AGED.replace("drawn(3)", "drawn(rows)"))[1]


DECORATED = """
import no_such_module as m

@m.sends(token=int("1"))
def by_hole(x):
    return x + 1

@open("/nowhere/token").read()
def by_what_failed(x):
    return x + 2

@m.main
def main():
    data = open("/nowhere/data").read()
    return data.rows

class Mixed(dict, m.Base):
    size = 3

class Layer(m.Layer):
    def __init__(self, units):
        super().__init__(units, name="x")
        self.units = units

mapped = m.table.map(lambda row: row + 1)
done = main(), by_hole(1), by_what_failed(1), Mixed(a=1)["a"], Layer(4)
"""


def test_what_is_not_there_takes_no_function_and_no_class_from_the_script(tmp_path: Path) -> None:
    space, noted = ran(tmp_path, DECORATED)
    rows, one, two, item, layer = space["done"]
    assert (one, two, item) == (2, 3, 1)
    assert isinstance(rows, Hole) and any("data = open" in said for said in noted)
    assert layer.units == 4 and isinstance(layer.output(3), Hole)
    assert isinstance(space["mapped"], Hole) and space["Mixed"].__mro__[1] is dict


IN_FUNCTIONS = """
class Corpus:
    def __init__(self, folder):
        self.words = open(folder + "/words").read()
        with open(folder + "/index") as file:
            self.index = file.read()
            self.first = 1
        self.built = 2

def settings(folder):
    with open(folder + "/settings") as file:
        return file.read()

def parts(rows):
    raise ValueError("these rows are of no kind")

def train(folder):
    corpus = Corpus(folder)
    number = {row: 1 for row in corpus.words}[corpus.index[0]]
    for fold, (one, two) in enumerate(parts(corpus.words)):
        trained.append((fold, one))
    return corpus, number

def sorted_by(row):
    size = open("/nowhere/row").read()
    return size.number + 1

trained = []
read = settings("/nowhere").read
corpus, number = train("/nowhere")
try:
    answered = Corpus("/nowhere")
except OSError:
    answered = "by the script"
shown = ""
if open("/nowhere/flag").read() + parts:
    never.made = 1
ends = iter(())
try:
    for each in next(ends):
        shown = each
except StopIteration:
    shown = "ended"
rows = sorted("ab", key=sorted_by)
numbers = mapped(sorted_by)
"""


def test_a_statement_of_a_function_is_passed_over_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        user_lines,
        "is_user_file",
        lambda file: file.endswith(("job.py", "run_statements.py", "of_functions.py")),
    )
    mapped = of_keras("def mapped(function):\n    return function(1)\n")["mapped"]
    space, noted = ran(tmp_path, IN_FUNCTIONS, mapped=mapped)
    corpus = space["corpus"]
    assert corpus.built == 2 and all(
        isinstance(each, Hole) for each in (corpus.words, corpus.index, corpus.first)
    )
    assert isinstance(space["read"], Hole)
    assert space["shown"] == "ended", "an iterator's end is the script's own"
    assert space["number"] == 1, "a key that is a hole is found among holes"
    assert len(space["trained"]) == 1, "what cannot be gone over is gone over once"
    assert space["answered"] == "by the script"
    assert len(space["rows"]) == 2 and isinstance(space["numbers"], Hole)
    assert len(noted) == 6 and "mapped(" in noted[-1], "what a framework calls fails as one"


def test_a_module_of_the_jobs_own_is_as_a_function(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path), lambda **_: None)
    text = (
        "import json\nknown = open('/nowhere/a').read()\ndef f():\n    x = known[1]\n    return x\n"
    )
    space: dict[str, Any] = {}
    tree = Statements(ledger).tried(text, "m.py", space, imported=True)
    exec(compile(tree, "m.py", "exec", dont_inherit=True), space)
    assert isinstance(space["f"](), Hole) and ledger.any
