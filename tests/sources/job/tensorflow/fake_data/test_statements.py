"""Statements that fail for lack of data, and what becomes of them."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.sources.job.tensorflow.fake_data.run_statements import of_keras, ran
from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import interventions, user_lines
from tpudiag.sources.job.tensorflow.fake_data import asking, paths
from tpudiag.sources.job.tensorflow.fake_data.hole_sizes import LENGTH
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger

np = pytest.importorskip("numpy")


PROGRAM = """
import os
import no_such_module.part
kept = 1
def load(path):
    return open(path).read()
data = load("/nowhere/data.bin")
size = len(data) // 2
labels = kept_before = data.labels
if kept:
    for part in data.parts(2):
        first, rest = part
        table = {"a": 1}
        value = table[first]
        kept += 1
with data.opened() as opened:
    inside = opened.read()
names = [load for load in "ab"]
try:
    answered = load("/nowhere/third")
except OSError:
    answered = "by the script"
def main():
    def numbers():
        yield 1
    own = load("/nowhere/other")
    total = own + 1
    return total
@(jit := staticmethod)
def step():
    return load("/nowhere/other"), 1
if __name__ == "__main__":
    result = main()
    for _ in range(2):
        stepped = step()
"""


FILLED = """
rows, own, seen, shared, added, text, held, counted = [], [1], {}, [], [], "", [1], 0
for line in open("/nowhere/data.csv"):
    added, text, held = added + [line], text + line, held + [line]
    counted += 1
    rows.append(line.split(","))
    own.append(line)
    seen[line] = 1
def main():
    parts = []
    parts.append(open("/nowhere/other").read())
    shared.append(open("/nowhere/third").read())
    return parts
if __name__ == "__main__":
    result = main()
"""


def test_what_a_statement_would_have_filled_becomes_one_too(tmp_path: Path) -> None:
    space, _ = ran(tmp_path, FILLED)
    for name in ("rows", "seen", "result", "added", "text"):
        assert isinstance(space[name], Hole), name
    assert space["own"] == space["held"] == [1] and space["counted"] == 0, "what has a value stays"
    assert space["shared"] == [], "a function sets no name of the script's"


def test_what_a_statement_would_have_set_becomes_a_hole(tmp_path: Path) -> None:
    space, noted = ran(tmp_path, PROGRAM)
    for name in ("data", "labels", "kept_before", "first", "value", "inside", "result", "stepped"):
        assert isinstance(space[name], Hole), name
    assert space["kept"] > 1 and space["size"] == LENGTH // 2 and space["names"] == ["a", "b"]
    assert callable(space["load"]), "a comprehension's own name is none of the script's"
    assert len(noted) == 4, "a key that a hole is not: whether data would be is not known"
    assert space["answered"] == "by the script"
    assert ":3" in noted[0] and ":7" in noted[1]
    assert isinstance(space["no_such_module"], Hole)


@pytest.mark.parametrize(
    ("text", "error", "line"),
    [
        ("data = open('/nowhere/x').read()\nx = dat\n", NameError, 2),
        ("x = 1\n\ny = x / 0\n", ZeroDivisionError, 3),
        ("f = open('/nowhere/made/out.txt', 'w')\n", FileNotFoundError, 1),
        ("d = open('/nowhere/x').read()\nimport os\ny = os.no_such(d)\n", AttributeError, 3),
    ],
)
def test_what_no_data_brings_about_is_the_scripts(
    tmp_path: Path, text: str, error: type[Exception], line: int
) -> None:
    with pytest.raises(error) as caught:
        ran(tmp_path, text)
    assert caught.traceback[-1].lineno + 1 == line


@pytest.mark.parametrize(("read", "ends"), [("own", True), ("data", False)])
def test_what_nothing_that_stands_in_for_data_reached_is_the_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: str, ends: bool
) -> None:
    monkeypatch.setattr(user_lines, "is_user_file", lambda file: file.endswith("job.py"))
    interventions.begin()
    text = f"data = open('/absent').read()\nown = [3]\nsize = len({read})\ny = [1][size]\n"
    (tmp_path / "job.py").write_text(text)
    with pytest.raises(IndexError) if ends else contextlib.nullcontext():
        assert isinstance(ran(tmp_path, text)[0]["y"], Hole)


def test_an_error_of_training_is_the_scripts_though_keras_hides_its_frames(tmp_path: Path) -> None:
    text = "data = open('/nowhere/x').read()\nmodel.fit(data)\n"
    library = of_keras("def fit(data):\n    raise ValueError('shapes')\n")

    class Model:
        def fit(self, data: object) -> None:
            fn = library["fit"]
            try:
                fn(data)
            except ValueError as error:
                raise error.with_traceback(None) from None

    with pytest.raises(ValueError, match="shapes"):
        ran(tmp_path, text, model=Model())
    text = "import no_such_module\ndata = no_such_module.made()\nmodel.fit(data)\n"
    with pytest.raises(ModuleNotFoundError):
        ran(tmp_path, text, model=Model())
    library = of_keras("def put(x):\n    raise TypeError(x)\n", "engine/models.py")
    with pytest.raises(ModuleNotFoundError):
        ran(tmp_path, "import no_such_module as m\nmodel = put(m.Backbone())\n", **library)
    space, _ = ran(
        tmp_path, "data = open('/nowhere/x').read()\nmodel = data.made()\nmodel.fit(data)\n"
    )
    assert isinstance(space["model"], Hole)


@pytest.mark.parametrize(("given", "own"), [("'int64'", ["int64"]), ("data", [])])
def test_a_kind_of_number_that_no_hole_had_a_part_in_is_told_as_the_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, own: list[str]
) -> None:
    told: list[str] = []
    monkeypatch.setattr(Ledger, "tell_own", lambda _, error: told.append(str(error).split()[0]))
    raising = "def put(x):\n    raise ValueError(f'{x} is not in the list of allowed values')\n"
    text = f"data = open('/nowhere/x').read()\nput({given})\n"
    with contextlib.suppress(ValueError):
        ran(tmp_path, text, **of_keras(raising, "optimizers/adam.py"))
    assert told == own


def test_a_module_of_the_jobs_own_is_no_missing_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in sys.path if path not in ("", ".")])
    assert isinstance(ran(tmp_path, "import its_own\n")[0]["its_own"], Hole)
    (tmp_path / "its_own").mkdir()
    with pytest.raises(ModuleNotFoundError):
        ran(tmp_path, "import its_own\n")


def test_what_fails_once_data_are_stood_in_for_is_passed_over_and_said_apart(
    tmp_path: Path,
) -> None:
    text = "import json\nkept, rows = {}, []\ndata = open('/nowhere/x').read()\n"
    text += "kept['loss'] = data[0]\nrows.append(data[1])\n"
    _, noted = ran(tmp_path, text + "json.dumps(kept)\nx = rows[0].reshape(2, 3).shape[9]\n")
    assert "json.dumps" in noted[1], "it says what it cannot write"
    assert len(noted) == 2, "on what stands in for data: whether by them is not known"


@pytest.mark.parametrize(
    ("data", "error", "trained", "ends"),
    [
        ("open('/absent')", ValueError, True, False),
        ("open('/absent')", AssertionError, True, False),
        ("open('/absent')", ValueError, False, True),
        ("open('/absent')", NameError, True, True),
        ("1", ValueError, True, True),
    ],
)
def test_behind_a_first_loop_what_fails_is_passed_over_though_it_trains(
    tmp_path: Path, data: str, error: type[Exception], trained: bool, ends: bool
) -> None:
    library = of_keras("def fit(x):\n    raise error\n", error=error)
    text = f"x = {data}\nhistory = fit(x)\nloss = history.history['loss']\n"
    with pytest.raises(error) if ends else contextlib.nullcontext():
        assert isinstance(ran(tmp_path, text, trained, **library)[0]["loss"], Hole)


def test_what_failed_to_learn_of_no_data_is_not_asked_for_what_it_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_lines, "is_user_file", lambda file: file.endswith("job.py"))
    text = "class Scaler:\n  def fit(self, x):\n    self.mean = {}[x]\n  def scaled(self, x):\n"
    text += "    if not hasattr(self, 'mean'): raise ValueError('not fitted')\n"
    known: dict[str, Any] = {}
    exec(compile(text, "/lib/sklearn/scaler.py", "exec"), known)
    scaler = known["Scaler"]
    text = "x = open('/absent').read()\nscaler.fit(x)\ny = other.scaled([1])\nz = scaler.mean\n"
    (tmp_path / "job.py").write_text(text)
    interventions.begin()
    space, noted = ran(tmp_path, text, scaler=(one := scaler()), other=one)
    assert isinstance(space["y"], Hole) and isinstance(space["z"], Hole) and ":3" in noted[1]
    interventions.begin()
    with pytest.raises(ValueError, match="not fitted"):
        ran(tmp_path, text, scaler=one, other=scaler())


@pytest.mark.parametrize("file", ["layers/core.py", "src/backend/common/keras_tensor.py"])
def test_what_an_absent_package_should_have_made_is_missed_where_it_is_needed(
    tmp_path: Path, file: str
) -> None:
    library = of_keras("def put(x):\n    raise TypeError(x)\n", file)
    text = "import no_such_module as m\npart = m.Part(1) + 2\n"
    text += "def made(x):\n    return put(x + part.size)\nmodel = made(3)\n"
    with pytest.raises(ModuleNotFoundError):
        ran(tmp_path, text, **library)
    with pytest.raises(TypeError):
        ran(tmp_path, "open('/nowhere/x')\nmodel = put(3)\n", **library)


def test_names_of_a_module_that_is_absent_are_missed_by_it(tmp_path: Path) -> None:
    space, noted = ran(tmp_path, "from no_such_module import *\nx = helper(3)\ny = x + 1\n")
    assert isinstance(space["y"], Hole) and len(noted) == 2
    library = of_keras("def fit(f):\n    f()\n")
    with pytest.raises(ModuleNotFoundError):
        ran(tmp_path, "from no_such_module import *\nfit(lambda: helper(3))\n", **library)


def test_what_a_release_lacks_is_no_lack_of_data(tmp_path: Path) -> None:
    strategy = type("Strategy", (), {"__module__": "tensorflow.python.distribute"})()
    tensor = type("Tensor", (), {"__module__": "tensorflow.python.framework", "shape": (2,)})()
    text = "data = open('/nowhere/x').read()\nx = made(data).items\ny = strategy.run_v2(data)\n"
    with pytest.raises(AttributeError) as caught:
        ran(tmp_path, text, strategy=strategy, made=lambda _: tensor)
    assert caught.traceback[-1].lineno + 1 == 3


def test_a_name_that_a_loop_over_no_file_would_have_set_is_missed_by_data(tmp_path: Path) -> None:
    lost = "x = open('/absent')\nfor file in []:\n    part = file\n"
    assert ran(tmp_path, lost + "del part\nafter = 1\n")[0]["after"] == 1
    with pytest.raises(NameError):
        ran(tmp_path, lost + "del prat\n")


def test_a_branch_that_a_hole_has_led_to_is_not_the_scripts_own(tmp_path: Path) -> None:
    text = "x = open('/absent').read()\nif {}:\n    print(no_such_name)\nafter = 1\n"
    assert ran(tmp_path, text.format("x.wanted"))[0]["after"] == 1
    with pytest.raises(NameError):
        ran(tmp_path, text.format("1 + 1"))


def test_a_timed_cell_of_an_exported_notebook_is_statements_like_others(tmp_path: Path) -> None:
    cell = "x = open('/absent').read()\ny = [1]\ny += x"
    space, noted = ran(tmp_path, f"get_ipython().run_cell_magic('time', '', {cell!r})\n")
    assert isinstance(space["x"], Hole) and space["y"]
    assert ":1 `get_ipython" in noted[0]


def test_what_fails_once_a_loop_was_cut_short_is_passed_over(tmp_path: Path) -> None:
    text = "total = sum(parts) / (4 - len(parts))\nafter = 1\n"
    interventions.begin()
    with pytest.raises(ZeroDivisionError):
        ran(tmp_path, text, parts=[0] * 4)
    interventions.note(InterventionKind.ROUNDS, interventions.ANYWHERE)
    assert ran(tmp_path, text, parts=[0] * 4)[0]["after"] == 1
    interventions.begin()


LOADED = """
import pickle
class Reader:
    def read(self, model, path):
        self.load(model, path)
    def load(self, model, path):
        model["weights"] = int(open(path).read())
read = Reader().read
def loaded(model, path):
    read(model, path)
    model["ready"] = True
def checked(model, path):
    try:
        loaded(model, path)
    except OSError:
        return "by the script"
def made():
    model = {}
    loaded(model, "/nowhere/weights.npz")
    return model
model = made()
answered = checked({}, "/nowhere/others")
sent = pickle.loads(pickle.dumps(__tpudiag_tried__))(OSError(), 3)
def refused():
    loaded({}, "/dev/null")
refused()
"""


def test_what_a_command_of_a_notebook_would_fetch_is_stood_in_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "get_ipython().system('wget https://host/a.csv -P /nowhere/pets')\nx = [].pop()\n"
    shell: Any = SimpleNamespace(system=lambda _: None)
    assert isinstance(ran(tmp_path, text, get_ipython=lambda: shell)[0]["x"], Hole)
    assert paths.is_hosted("/nowhere/pets/images/1.jpg")
    (tmp_path / "a.csv").touch()
    interventions.begin()
    with pytest.raises(IndexError):
        ran(tmp_path, text, get_ipython=lambda: shell)


BRANCHED = """
data = open("/absent").read()
kept = [row for row in data if row["kind"] != "test"]
tests = [row for row in data if row["kind"] == "test"]
texts, others = [], []
for row in data:
    if row.kind == "text":
        texts.append(row)
    elif row.kind == "other":
        others.append(row)
while data.left > 3:
    data.next()
if data.state != "ready":
    raise ValueError
"""


def test_a_loop_that_asks_a_hole_the_same_in_each_round_gets_both_answers(tmp_path: Path) -> None:
    space, noted = ran(tmp_path, BRANCHED)
    assert len(noted) == 1 and all(space[name] for name in ("kept", "tests", "texts", "others"))


def test_a_statement_that_only_uses_holes_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_MOST_USES", 1 << 14)
    text = "data = open('/absent').read()\nwhile data:\n    data = data + 1\n"
    text += "x = [a + b for a in data for b in data]\n"
    space, noted = ran(tmp_path, text)
    assert len(noted) == 3 and isinstance(space["x"], Hole)


CHOSEN = """
def normed(rows):
    if len(rows) == -1:
        norm = 1
    return norm

def objects():
    found = [each for each in data]
    first, second = found
    return first

data = open("/absent").read()
norm = normed(data)
parts = objects()
for each in no_such_name:
    pass
"""


def test_what_values_decide_and_what_holds_holes_is_for_want(tmp_path: Path) -> None:
    with pytest.raises(NameError) as raised:
        ran(tmp_path, CHOSEN)
    lines = [each.lineno + 1 for each in raised.traceback if str(each.path).endswith("job.py")]
    assert lines == [len(CHOSEN.splitlines()) - 1], "once, and without a function of ours"


def test_a_loop_whose_statement_fails_in_each_round_is_passed_over(tmp_path: Path) -> None:
    space, _ = ran(
        tmp_path,
        "x = open('/absent')\n"
        "rounds = 0\n"
        "for epoch in range(1000):\n"
        "    for step in range(1000):\n"
        "        rounds += 1\n"
        "        loss = open('/absent/too')\n"
        "after = 1\n",
    )
    assert space["after"] == 1 and space["rounds"] < 300


def test_a_function_goes_on_without_what_it_calls_for_its_effect(tmp_path: Path) -> None:
    space, noted = ran(tmp_path, LOADED)
    assert space["model"] == {"ready": True}, "it stays as it was made"
    assert space["answered"] == "by the script" and space["sent"] is False
    assert len(noted) == 1, "what else fails where data are stood in for is said apart"
