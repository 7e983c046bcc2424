"""Watches a job from outside: ends it with the tool, or if memory is short."""

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
"""The time to exit after SIGTERM."""


@dataclass(kw_only=True)
class Keeper:
    """Waits for a process's end, and ends it where necessary."""

    pid: int
    """The job's pid, or that of its first process."""
    send: Callable[[signal.Signals], None]
    """Sends the job a signal."""
    lifeline: int
    """A pipe that closes when the tool is gone."""
    spare_bytes: int
    """Memory to leave free on this machine; 0: not checked."""
    shortage: str = ""
    """Why the job was ended for lack of memory."""
    alone: bool = False
    """Whether the tool is gone."""
    _ends_at: float = math.inf

    def wait(self) -> None:
        """Wait until the process ended, without reaping it."""
        signal.signal(signal.SIGTERM, self._asked_to_stop)
        poll = select.poll()
        if self.lifeline >= 0:
            poll.register(self.lifeline, select.POLLIN)
        with suppress(OSError):  # Linux before 5.3: polled instead
            poll.register(os.pidfd_open(self.pid), select.POLLIN)
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            heard = {descriptor for descriptor, _ in poll.poll(LOOK_EVERY_S * 1000)}
            if self.lifeline in heard:
                self.alone = True
                poll.unregister(self.lifeline)
                self.send(signal.SIGKILL)
            elif time.monotonic() > self._ends_at:
                self.send(signal.SIGKILL)
            elif self.spare_bytes and not self.shortage:
                left = available_bytes()
                if left < self.spare_bytes:
                    self.shortage = (
                        f"this machine had {left / 2**20:.0f} MiB of memory left: the job was "
                        "ended, so that nothing else is"
                    )
                    self.send(signal.SIGKILL)

    def _asked_to_stop(self, _number: int, _frame: object) -> None:
        """At SIGTERM: ask the job to end, and kill it after a moment."""
        self._ends_at = time.monotonic() + GRACE_S
        self.send(signal.SIGTERM)


def end_descendants() -> None:
    """Kill all remaining descendants of this process."""
    # Dead processes' children go to this process, their subreaper: repeat until there are none.
    while children := _children():
        for pid in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.wait()


def _children() -> list[int]:
    own, found = os.getpid(), list[int]()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with (
                suppress(OSError),
                open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file,
            ):
                # The second field is a name in brackets with arbitrary content.
                if int(file.read().rpartition(")")[2].split()[1]) == own:
                    found.append(int(name))
    return found
