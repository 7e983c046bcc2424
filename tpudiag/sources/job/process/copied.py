"""A process that goes on in a copy of itself, and from the same line anew where the copy asks.

What ran before, above all its imports, need not run again. Only while it has one thread and no
device: what other threads hold is lost in a copy.
"""

import ctypes
import os
import re
import signal
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from tpudiag.sources.job.points import user_lines
from tpudiag.sources.job.process.protocol import Recorder

PR_SET_PDEATHSIG = 1
_leave, _signal = os._exit, os.kill  # as they are before a notebook's cells are kept from them
_CHANGES = frozenset(
    (
        "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate",
        "os.system", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.bind",
    )
)  # fmt: skip
"""Audit events after which the same lines of the user's may end otherwise: a folder is there, a
port is taken. Libraries, which fill their caches, are ready for that."""


class Copy:
    """The copy of a process, as it sees itself."""

    def __init__(self, tell: int) -> None:
        self._tell = tell
        self._repeatable = True
        sys.addaudithook(self._heard)

    def _heard(self, event: str, _: object) -> None:
        if event in _CHANGES and user_lines.through_python():
            self._repeatable = False

    def asks_for(self, number: int) -> bool:
        """Let the original go on with a number once this ends; False where it must not."""
        return self._repeatable and os.write(self._tell, bytes([number])) == 1


def possible() -> bool:
    """Whether a copy of this process can go on as the process could."""
    alone = threading.active_count() == 1
    return sys.platform == "linux" and alone and sys.gettrace() is None and not _has_workers()


def _has_workers() -> bool:
    """Whether a library has started threads that a copy would wait for in vain.

    Those of linear algebra are begun anew in a copy; they bear the program's name, as those of
    OpenMP do, which are not.
    """
    try:
        names = {task.joinpath("comm").read_text() for task in Path("/proc/self/task").iterdir()}
        openmp = re.search(r"/lib(gomp|i?omp5)\b", Path("/proc/self/maps").read_text()) is not None
    except OSError:
        return True
    return len(names) > 1 or openmp


def made(recorder: Recorder) -> Copy | int:
    """Once in the copy; and in the original with the number that the copy asked for.

    Where it asked for none the original ends as the copy did.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    told, tell = os.pipe()
    os.set_blocking(told, False)  # whatever the copy leaves behind may hold the other end
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python counts the threads of libraries that can be copied
        pid = os.fork()
    if not pid:
        os.close(told)
        die_with_parent()
        recorder.take_over()
        return Copy(tell)
    os.close(tell)
    how = _waited(pid)
    asked = b""
    with suppress(BlockingIOError):
        asked = os.read(told, 1)
    if not asked:
        _end_as(how)
    os.close(told)
    return asked[0]


def _waited(pid: int) -> int:
    """How a process has ended, which is told what this one is told."""

    def pass_on(number: int, _: object) -> None:
        with suppress(ProcessLookupError):
            _signal(pid, number)

    before = signal.signal(signal.SIGTERM, pass_on)
    try:
        return os.waitpid(pid, 0)[1]
    finally:
        signal.signal(signal.SIGTERM, before)


def _end_as(how: int) -> NoReturn:
    """End this process as its copy did."""
    if os.WIFSIGNALED(how):
        with suppress(OSError, ValueError):
            signal.signal(os.WTERMSIG(how), signal.SIG_DFL)
        _signal(os.getpid(), os.WTERMSIG(how))
    _leave(os.waitstatus_to_exitcode(how) if os.WIFEXITED(how) else 1)


def die_with_parent() -> None:
    """Ask Linux to end this process when the parent is gone, however that went."""
    # A parent ended by SIGKILL cannot end the job itself; where there is no prctl (macOS) it stays.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
