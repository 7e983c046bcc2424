"""Folders to harm, users to harm them as, and whether they are as they were."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tpudiag.script_run import Isolation
from tpudiag.sources.job.process.isolation import chosen, launch
from tpudiag.sources.job.process.isolation.launch import Launch, Outcome

HARMS = Path(__file__).with_name("harms.py")
CONFINED = Path(__file__).with_name("confined.py")
STRANGER = 54321
"""A user who owns nothing on this machine."""


@dataclass(frozen=True)
class Place:
    """A folder and a home, which belong to a user."""

    top: Path
    user: int | None
    """None for whoever runs the tests."""
    python: str

    @property
    def work(self) -> Path:
        return self.top / "work"

    @property
    def home(self) -> Path:
        return self.top / "home"

    @property
    def run(self) -> Path:
        return self.top / "run"

    def start(
        self, command: list[str], before: tuple[str, ...] = (), pass_fds: tuple[int, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """A process of that user's, in the folder."""
        return subprocess.run(
            [*before, *command],
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "HOME": str(self.home)},
            user=self.user,
            group=self.user,
            pass_fds=pass_fds,
        )


@contextmanager
def place(user: int | None = None, on: str | None = None) -> Generator[Place, None, None]:
    """A place of a user's own, which goes at the end."""
    top = Path(tempfile.mkdtemp(prefix="tpudiag-test-", dir=on))
    top.chmod(0o755)
    try:
        made = Place(top, user, sys.executable if user is None else python_of(user))
        for folder in (made.work, made.home, made.run):
            folder.mkdir()
            if user is not None:
                os.chown(folder, user, user)
        yield made
    finally:
        shutil.rmtree(top, ignore_errors=True)


@cache
def python_of(user: int) -> str:
    """A Python that a user can start; empty where there is none."""
    for python in (sys.executable, "/usr/bin/python3"):
        asked = [python, "-c", f"import sys; sys.exit(sys.version_info < (3, 11)); open('{HARMS}')"]
        try:
            done = subprocess.run(asked, user=user, group=user, check=False, cwd="/", timeout=30)
        except OSError:
            continue
        if not done.returncode:
            return python
    return ""


def launched(
    where: Place,
    isolation: Isolation,
    command: list[str],
    *,
    before: tuple[str, ...] = (),
    pass_fds: tuple[int, ...] = (),
    **more: Any,
) -> tuple[subprocess.CompletedProcess[str], Outcome | None]:
    """A command that the launcher starts."""
    folder = Path(tempfile.mkdtemp(dir=where.run))
    if where.user is not None:
        os.chown(folder, where.user, where.user)
    (folder / launch.REDIRECTED).mkdir()
    wanted = Launch(
        command=tuple(command), isolation=isolation, folder=str(folder), working=str(where.work)
    )
    wanted = replace(wanted, **{"own_processes": isolation == "overlay", **more})
    start = [where.python, "-I", "-S", str(chosen.LAUNCHER), launch.encoded(wanted)]
    done = where.start(start, before, pass_fds=pass_fds)
    return done, launch.outcome_in(str(folder))


def harmed(where: Place, isolation: Isolation | None, **more: Any) -> dict[str, str]:
    """What raised when all harms were done; None: with nothing in between."""
    command = [where.python, "-B", str(HARMS), str(where.work)]
    if isolation is None:
        done = where.start(command)
    else:
        done, outcome = launched(where, isolation, command, **more)
        assert outcome is not None and not outcome.failure, outcome
    assert done.returncode == 0, done.stderr
    raised: dict[str, str] = json.loads(done.stdout)
    return raised


def make(where: Place) -> None:
    """Make what is to be harmed."""
    done = where.start([where.python, "-B", str(HARMS), str(where.work), "make"])
    assert done.returncode == 0, done.stderr


def state(where: Place) -> dict[str, tuple[object, ...]]:
    """Each file and folder: its kind, rights, owner, time, content and attributes."""
    found: dict[str, tuple[object, ...]] = {}
    for top in (where.work, where.home):
        for path in [top, *top.rglob("*")]:
            seen = path.lstat()
            content: object = None
            if path.is_symlink():
                content = str(path.readlink())
            elif path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path)] = (
                *(seen.st_mode, seen.st_uid, seen.st_gid, seen.st_nlink, seen.st_mtime_ns),
                content,
                tuple(os.listxattr(path, follow_symlinks=False)),
            )
    return found


def changed(where: Place, before: dict[str, tuple[object, ...]]) -> set[str]:
    """What is no longer as it was."""
    after = state(where)
    return {path for path in before | after if before.get(path) != after.get(path)}
