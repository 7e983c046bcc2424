"""What stands in the loop that calls the training step, in programs that Python runs."""

import linecache
from typing import Any

import pytest

from tpudiag.sources.job.points.step_loop import StepLoop

FIT = "/usr/lib/python3/dist-packages/keras/trainer.py"


def seen(source: str, file: str = "/job/train.py", *, always: bool = False) -> list[bool]:
    """What is known at each `save()` of a program with a training `step()`."""
    loop, known = StepLoop(), list[bool]()

    def save() -> None:
        known.append(loop.holds_caller(always=always))

    names: dict[str, Any] = {"step": loop.stepped, "save": save}
    keras = "def fit(step, after):\n    for _ in range(2):\n        step()\n        after()\n"
    exec(compile(keras, FIT, "exec"), names)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return known


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(2):\n    step()\n    if i % 1 == 0:\n        save()\n",
        "i = 0\nwhile i < 2:\n    step(); save()\n    i += 1\n",
        "def keep():\n    save()\ndef train(n):\n    for _ in range(n):\n        step()\n"
        "        keep()\ntrain(2)\n",
        "def keep(i):\n    if i > 2:\n        pass\n    else:\n        save()\n"
        "for i in range(2):\n    step()\n    keep(i)\n",
        "def one():\n    step()\nfor _ in range(2):\n    one()\n    save()\n",
    ],
)
def test_by_the_number_of_the_step(source: str) -> None:
    assert seen(source) == [True, True]
    assert seen(source, always=True) == ["if" not in source] * 2, "under no condition"


@pytest.mark.parametrize(
    "source",
    [
        "for _ in range(2):\n    for _ in range(3):\n        step()\n    save()\n",
        "for _ in range(2):\n    for _ in range(3):\n        step()\n    else:\n        save()\n",
        "def epoch():\n    for _ in range(3):\n        step()\nfor _ in range(2):\n    epoch()\n"
        "    save()\n",
        "for fold in range(2):\n    fit(step, lambda: None)\n    save()\n",
        "step()\nsave()\nsave()\n",
    ],
)
def test_after_each_epoch(source: str) -> None:
    assert seen(source) == [False, False]
