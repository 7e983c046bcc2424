"""A process that continues in a copy of itself, and repeats from the same line on request.

What ran before, above all imports, need not run again. Only possible with one thread and no device:
a copy loses what other threads hold.
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
_leave, _signal = os._exit, os.kill  # the originals, before a notebook's cells are kept from them
_CHANGES = frozenset(
    (
        "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate",
        "os.system", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.bind",
    )
)  # fmt: skip
"""Audit events after which repeating user code may differ: a folder exists, a port is taken.
Libraries, which fill their caches, cope with that."""


class ForkSnapshot:
    """The copy of a process, seen from inside."""

    def __init__(self, send: int) -> None:
        self._tell = send
        self._repeatable = True
        sys.addaudithook(self._heard)

    def _heard(self, event: str, _: object) -> None:
        if event in _CHANGES and user_lines.through_python():
            self._repeatable = False

    def asks_for(self, number: int) -> bool:
        """Let the original continue with a number once this ends; False where it must not."""
        return self._repeatable and os.write(self._tell, bytes([number])) == 1


def possible() -> bool:
    """Whether a copy of this process could continue in its place."""
    alone = threading.active_count() == 1
    return sys.platform == "linux" and alone and sys.gettrace() is None and not _has_workers()


def _has_workers() -> bool:
    """Whether a library has started threads that a copy would wait for in vain.

    Those of linear algebra are restarted in a copy; they carry the program's name, and so do
    those of OpenMP, which are not.
    """
    try:
        names = {task.joinpath("comm").read_text() for task in Path("/proc/self/task").iterdir()}
        openmp = re.search(r"/lib(gomp|i?omp5)\b", Path("/proc/self/maps").read_text()) is not None
    except OSError:
        return True
    return len(names) > 1 or openmp


def made(recorder: Recorder) -> ForkSnapshot | int:
    """Returns in the copy; and in the original with the number that the copy requested.

    Without a request the original ends as the copy did.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    receive, send = os.pipe()
    os.set_blocking(receive, False)  # processes left by the copy may hold the other end
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # Python also counts threads of libraries that can be copied
        pid = os.fork()
    if not pid:
        os.close(receive)
        die_with_parent()
        recorder.take_over()
        return ForkSnapshot(send)
    os.close(send)
    how = _waited(pid)
    requested = b""
    with suppress(BlockingIOError):
        requested = os.read(receive, 1)
    if not requested:
        _end_as(how)
    os.close(receive)
    return requested[0]


def _waited(pid: int) -> int:
    """How a process ended; signals to this one are forwarded to it."""

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
    """Ask Linux to end this process when the parent dies in any way."""
    # A parent killed by SIGKILL cannot end the job itself; without prctl (macOS) the job stays.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
