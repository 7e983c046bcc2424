"""Which means a job is kept apart by, on machines that allow more or less."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.sources.job.process.isolation.places import (
    CONFINED,
    STRANGER,
    Place,
    changed,
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
USER_NAMESPACE = ("unshare", "--user", "--map-root-user")
NO_MORE = (
    *(*USER_NAMESPACE, "sh", "-c"),
    'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -all "$@"',
    "sh",
)
"""The system's setting for it, which holds in a user namespace for that alone."""


@dataclass(frozen=True)
class Machine:
    """A user on a machine that allows more or less."""

    name: str
    isolation: str
    user: int | None = None
    profile: str = ""
    before: tuple[str, ...] = ()

    def command(self, python: str) -> tuple[str, ...]:
        """What a command is to be started by."""
        return (*self.before, *((python, str(CONFINED), self.profile) if self.profile else ()))


MATRIX = [
    Machine("root", "overlay"),
    Machine("root, mounts refused", "landlock", None, "mount"),
    Machine("root, no mounts, no namespaces, no Landlock", "refused", None, "landlock"),
    Machine("a user", "overlay", STRANGER),
    Machine("a user, new user namespaces refused", "landlock", STRANGER, "userns"),
    Machine("a user, no namespaces, no Landlock", "refused", STRANGER, "landlock"),
]
RARER = [
    Machine("root in Docker's default container", "landlock", None, "docker"),
    Machine("a user, mounts refused (AppArmor)", "landlock", STRANGER, "mount"),
    Machine("a user in Docker's default container", "landlock", STRANGER, "docker"),
    Machine("root of a user namespace", "overlay", STRANGER, "", USER_NAMESPACE),
    Machine("rootless container", "landlock", STRANGER, "docker", USER_NAMESPACE),
    Machine("user.max_user_namespaces = 0", "landlock", STRANGER, "", NO_MORE),
]


@pytest.mark.parametrize(
    "machine",
    [*MATRIX, *(pytest.param(each, marks=pytest.mark.slow) for each in RARER)],
    ids=lambda machine: machine.name,
)
def test_the_best_that_works_is_taken(machine: Machine) -> None:
    if machine.user is not None and (os.getuid() != 0 or not python_of(machine.user)):
        pytest.skip("only root can be another user, who needs a Python that can be read")
    with place(machine.user) as where:
        means = asked(where, machine)
        assert means["isolation"] == machine.isolation, means
        assert means["own_processes"] == (machine.isolation == "overlay")
        assert bool(means["refused"]) == (machine.isolation != "overlay")


def asked(where: Place, machine: Machine) -> dict[str, Any]:
    """The means that are taken there."""
    done = where.start([*machine.command(where.python), where.python, "-B", "-c", ASK, str(TOP)])
    assert done.returncode == 0, done.stderr
    means: dict[str, Any] = json.loads(done.stdout)
    return means


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
        assert changed(where, before) == set()
