"""Folders for what goes with a run: one for each process, from which nothing is left.

All that a run needs for a while lies in one folder, which only this user can read. It is removed
when nobody uses it any more; where this process is killed a small shell, which waits for nothing
else, removes it.
"""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_REMOVE = 'trap "" HUP INT TERM; read -r _; chmod -R u+rwx -- "$0"; rm -rf -- "$0"'


class _Top:
    """The folder of this process, while anybody uses it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._folder = ""
        self._shell: subprocess.Popen[bytes] | None = None

    def enter(self) -> str:
        """The folder, made where it is not there."""
        with self._lock:
            if not self._users:
                self._folder = tempfile.mkdtemp(prefix="tpudiag-", dir=_on_disk())
                self._shell = _remover(self._folder)
            self._users += 1
            return self._folder

    def leave(self) -> None:
        """Nobody here uses it any more: it goes with its last user."""
        with self._lock:
            self._users -= 1
            if not self._users:
                remove(self._folder)
                shell, self._shell = self._shell, None
                if shell is not None and shell.stdin is not None:
                    shell.stdin.close()
                    shell.wait()

    def lifeline(self) -> int:
        """A descriptor for a child that works in the folder after our death; -1 where none is."""
        shell = self._shell
        return -1 if shell is None or shell.stdin is None else shell.stdin.fileno()


_top = _Top()
lifeline = _top.lifeline


@contextmanager
def folder(name: str) -> Generator[Path, None, None]:
    """A folder that is there until it is left."""
    top = _top.enter()
    try:
        own = tempfile.mkdtemp(prefix=f"{name}-", dir=top)
        try:
            yield Path(own)
        finally:
            remove(own)
    finally:
        _top.leave()


def remove(path: str) -> None:
    """Remove a folder and all that is in it, whatever its rights."""

    def opened(function: Callable[..., Any], inner: str, _: object) -> None:
        with suppress(OSError):
            os.chmod(os.path.dirname(inner), 0o700)  # noqa: PTH101, PTH120
            os.chmod(inner, 0o700)  # noqa: PTH101
        with suppress(OSError):
            if function in (os.unlink, os.rmdir):
                function(inner)
            else:
                shutil.rmtree(inner, ignore_errors=True)

    shutil.rmtree(path, onerror=opened)


def _on_disk() -> str | None:
    """Where a folder lies on a disk, where the usual place is memory; None for the usual place.

    What a job writes may be large.
    """
    usual, other = tempfile.gettempdir(), "/var/tmp"
    if "TMPDIR" in os.environ or not os.access(other, os.W_OK):
        return None
    in_memory = _in_memory()
    here, there = (
        any(f"{place}/".startswith(each) for each in in_memory) for place in (usual, other)
    )
    return other if here and not there else None


def _in_memory() -> list[str]:
    """The places of file systems that lie in memory, on Linux; the root's is left out."""
    with suppress(OSError):
        rows = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
        fields = [row.split() for row in rows]
        return [f"{at}/" for _, at, kind, *_ in fields if kind == "tmpfs" and at != "/"]
    return []


def _remover(path: str) -> subprocess.Popen[bytes] | None:
    """What removes a folder once this process is gone; None where there is no shell."""
    with suppress(OSError):
        return subprocess.Popen(
            ["/bin/sh", "-c", _REMOVE, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # a terminal that is closed shall not end it
        )
    return None
