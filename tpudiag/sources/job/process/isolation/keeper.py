"""Watches over a job from outside: all of it ends with the tool, or where memory is short."""

import math
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from tpudiag.sources.job.process.host_memory import available_bytes

LOOK_EVERY_S = 0.25
GRACE_S = 2.0
"""How long a job that was told to end may take."""


@dataclass(kw_only=True)
class Keeper:
    """Waits for the end of a process, and ends it where it must."""

    pid: int
    """The job's, or that of the first of its processes."""
    told: Callable[[], None]
    """Tells the job to end."""
    end: Callable[[], None]
    """Ends it at once."""
    lifeline: int
    """A pipe that closes when the tool is gone."""
    spare_bytes: int
    """Memory that this machine shall have left; 0: not looked at."""
    shortage: str = ""
    """Why the job was ended for want of memory."""
    alone: bool = False
    """Whether the tool is gone."""
    _ends_at: float = math.inf

    def wait(self) -> None:
        """Until the process has ended; it is there to be waited for by others."""
        signal.signal(signal.SIGTERM, self._asked_to_stop)
        poll = select.poll()
        if self.lifeline >= 0:
            poll.register(self.lifeline, select.POLLIN)
        with suppress(OSError):  # Linux before 5.3: looked at, and not waited for
            poll.register(os.pidfd_open(self.pid), select.POLLIN)
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            heard = {descriptor for descriptor, _ in poll.poll(LOOK_EVERY_S * 1000)}
            if self.lifeline in heard:
                self.alone = True
                poll.unregister(self.lifeline)
                self.end()
            elif time.monotonic() > self._ends_at:
                self.end()
            elif self.spare_bytes and not self.shortage:
                self._look_at_memory()

    def _look_at_memory(self) -> None:
        """End the job where it leaves too little."""
        left = available_bytes()
        if left < self.spare_bytes:
            self.shortage = (
                f"this machine had {left / 2**20:.0f} MiB of memory left: the job was ended, so "
                "that nothing else is"
            )
            self.end()

    def _asked_to_stop(self, _number: int, _frame: object) -> None:
        """Of SIGTERM."""
        self._stop()

    def _stop(self) -> None:
        """Let the job end, and make it end after a moment."""
        self._ends_at = time.monotonic() + GRACE_S
        self.told()


def end_descendants() -> None:
    """End all that this process and its children have started, and left behind."""
    # Ended ones give their children to this process, which is their subreaper: so until none is.
    while children := _children():
        for pid in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.wait()


def _children() -> list[int]:
    """This process's children, those that have ended included."""
    own, found = os.getpid(), list[int]()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with (
                suppress(OSError),
                open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file,
            ):
                # The second field is a name in brackets, and may hold anything.
                if int(file.read().rpartition(")")[2].split()[1]) == own:
                    found.append(int(name))
    return found
