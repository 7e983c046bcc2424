"""The line that calls a model outside jax.jit."""

# pyright: reportPrivateUsage=false
import linecache
from typing import Any

import pytest

from tpudiag.sources.job.jax.eager_operations import EagerOperations
from tpudiag.sources.job.points import user_lines

JOB = """\
def main():
    for _ in range(1):
        train_step()
        accuracy()

def accuracy():
    library(layer)

def layer():
    library(product)

run(main)
"""


@pytest.mark.parametrize(
    ("what", "trains", "line"),
    [
        ("_ran", True, 7),
        ("_ran", False, 12),
        ("compiled", True, 7),
        ("compiled", False, None),  # not in the loop of the steps: it may run once
    ],
)
def test_what_starts_the_job_is_no_call_of_a_model(
    monkeypatch: pytest.MonkeyPatch, trains: bool, line: int | None, what: str
) -> None:
    known = (len(JOB), None, JOB.splitlines(keepends=True), "/job/train.py")
    monkeypatch.setitem(linecache.cache, "/job/train.py", known)
    monkeypatch.setattr(user_lines, "is_user_file", lambda file: file == "/job/train.py")  # pyright: ignore
    eager = EagerOperations()
    eager.stepped()

    def library(function: Any) -> None:
        function()

    names: dict[str, Any] = {
        "library": library,
        "run": library,
        "train_step": eager.stepped if trains else list,
        "product": getattr(eager, what),
    }
    exec(compile(JOB, "/job/train.py", "exec"), names)
    assert eager.facts() is None, "no step follows"
    eager.stepped()
    facts = eager.facts()
    assert (facts and facts.location.line) == line
