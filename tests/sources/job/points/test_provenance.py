"""Marks go by values: what a changed statement gave is followed to where an exception came up."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import interventions, user_lines

CUT = InterventionKind.PREDICTIONS


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(user_lines, "is_user_file", lambda file: file.endswith("train.py"))  # pyright: ignore
    interventions.begin()
    yield
    interventions.begin()


def cut(*_: Any, then: Callable[[], None] = lambda: None, **__: Any) -> Any:
    """A library's call that the rehearsal shortens."""
    interventions.note(CUT)
    then()
    return [1]


def elsewhere() -> None:
    thread = threading.Thread(target=cut)
    thread.start()
    thread.join()


def blamed(folder: Path, script: str) -> bool:
    """Whether the end of a script may be due to what was cut."""
    file = folder / "train.py"
    file.write_text(script)
    model = SimpleNamespace(fit=cut, predict=cut)
    space = {"model": model, "elsewhere": elsewhere, "__name__": "__main__"}
    try:
        exec(compile(script, str(file), "exec"), space)
    except Exception as error:
        return interventions.to_blame(error) == (CUT,)
    raise AssertionError("it is to fail")


OURS = {
    "a name": "p = model.predict()\nrows = list(p)\nprint(rows[7])",
    "one statement over lines": "print([\n    model.predict(),\n    {}['x'],\n])",
    "inside the call": "def broken():\n    raise ValueError\nmodel.fit(then=broken)",
    "a function's result": "def f():\n    h = model.fit()\n    return h\nx = f()\nx[7]",
    "a parameter": "def show(rows):\n    rows[7]\np = model.predict()\nshow(p)",
    "a keyword": "def show(*, rows):\n    y = rows\n    y[7]\nshow(rows=model.predict())",
    "another name in a method": (
        "class Shown:\n    def __init__(self, rows):\n        for each in rows:\n"
        "            [][each]\np = model.predict()\nclass Maker:\n    def make(self, given):\n"
        "        Shown(given)\nMaker().make(given=p)"
    ),
    "an object that is called": (
        "class Layer:\n    def __call__(self, inputs):\n        return inputs[7]\n"
        "layers = [Layer()]\np = model.predict()\nfor each in layers:\n    each(p)"
    ),
    "an attribute": (
        "class Trainer:\n    def train(self):\n        self.h = model.fit()\n"
        "    def plot(self):\n        self.h[7]\nt = Trainer()\nt.train()\nt.plot()"
    ),
    "a list": "seen = []\nfor _ in 1, 2:\n    loss = model.fit()\n    seen.append(loss)\nseen[7]",
    "an item": "d = {}\nd['h'] = model.fit()\nd['h'][7]",
    "an unpacked one": "(a,), b = model.fit(), 2\n[][a]",
    "a comprehension": "r = [p for p in model.predict()]\nr[7]",
    "what is at the model": "model.fit()\nmodel.history['loss']",
    "a callback": "seen = []\nmodel.fit(callbacks=[seen])\nseen[7]",
    "a file": (
        "import json\nh = model.fit()\njson.dump(h, open(NAME, 'w'))\n"
        "rows = json.load(open(NAME))\nrows[7]"
    ),
    "a callback's file": "log = dict(to='log.csv')\nmodel.fit(callbacks=[log])\nopen('log.csv')",
    "a condition": "seen = len(model.predict())\nif seen != 100:\n    raise ValueError",
    "a count": ("count = 0\nfor _ in model.predict():\n    count += 1\nassert count == 100"),
    "another thread": "elsewhere()\n[][7]",
}
THE_SCRIPTS = {
    "other values": "weights = []\nh = model.fit()\nlen(h)\nweights[7]",
    "another function": (
        "def train():\n    return model.fit()\ndef show(rows):\n    rows[7]\n"
        "def main():\n    h = train()\n    show([])\nmain()"
    ),
    "a folder that is not there": "h = model.fit()\nopen('/none/1.jpg', 'w')",
    "a module": "import math\nh = model.fit()\nmath.floor(h[0])\nmath.sqrt(-1)",
}


@pytest.mark.parametrize("name", OURS)
def test_what_a_marked_value_came_to_may_be_ours(name: str, tmp_path: Path) -> None:
    script = OURS[name].replace("NAME", repr(str(tmp_path / "history.json")))
    assert blamed(tmp_path, script), name


@pytest.mark.parametrize("name", THE_SCRIPTS)
def test_what_no_marked_value_came_to_is_the_scripts(name: str, tmp_path: Path) -> None:
    assert not blamed(tmp_path, THE_SCRIPTS[name]), name
