"""Which means a job is kept apart by, on machines that allow more or less."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.sources.job.process.isolation.places import (
    CONFINED,
    STRANGER,
    harmed,
    make,
    place,
    python_of,
    state,
)

TOP = Path(__file__).parents[5]
ASK = """
import dataclasses, json, os, sys
sys.path.insert(0, sys.argv[1])
from tpudiag.sources.job.process.isolation import chosen
print(json.dumps(dataclasses.asdict(chosen.means(os.getcwd()))))
"""
MATRIX = [
    (None, "", "overlay"),
    (None, "docker", "landlock"),
    (None, "mount", "landlock"),
    (None, "landlock", "refused"),
    (STRANGER, "", "overlay"),
    (STRANGER, "userns", "landlock"),
    (STRANGER, "docker", "landlock"),
    (STRANGER, "mount", "landlock"),
    (STRANGER, "landlock", "refused"),
]


@pytest.mark.parametrize(("user", "profile", "isolation"), MATRIX)
def test_the_best_that_works_is_taken(user: int | None, profile: str, isolation: str) -> None:
    if user is not None and (os.getuid() != 0 or not python_of(user)):
        pytest.skip("only root can be another user, who needs a Python that can be read")
    with place(user) as where:
        before = (where.python, str(CONFINED), profile) if profile else ()
        done = where.start([*before, where.python, "-B", "-c", ASK, str(TOP)])
        assert done.returncode == 0, done.stderr
        means = json.loads(done.stdout)
        assert means["isolation"] == isolation, means
        assert means["own_processes"] == (isolation == "overlay")
        assert bool(means["refused"]) == (isolation != "overlay")


def test_elsewhere_nothing_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tpudiag.sources.job.process.isolation import chosen

    monkeypatch.setattr(sys, "platform", "darwin")
    assert chosen.means(str(tmp_path)).isolation == "refused"


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["docker", "userns"])
def test_a_confined_user_s_files_are_as_they_were(profile: str) -> None:
    user = STRANGER if os.getuid() == 0 else None
    if user is not None and not python_of(user):
        pytest.skip("the user needs a Python that can be read")
    with place(user) as where:
        make(where)
        before = state(where)
        harmed(where, "landlock", before=(where.python, str(CONFINED), profile))
        after = state(where)
        assert {path for path in before | after if before.get(path) != after.get(path)} == set()
