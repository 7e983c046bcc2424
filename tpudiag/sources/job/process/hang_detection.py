"""Whether a silent process computes, or hangs."""

import time
from collections.abc import Callable

import psutil

LOOK_S = 20.0
"""The interval between two looks."""
LEAST_S = 0.5
"""The least CPU time between two looks; a hanging process uses almost none."""


def cpu_s(pid: int) -> float:
    """The CPU time of a process and of all its living descendants."""
    total = 0.0
    try:
        started = psutil.Process(pid)
        processes = [started, *started.children(recursive=True)]
    except psutil.Error:
        return 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.Error:  # it has just ended
            continue
        total += times.user + times.system
    return total


class HangDetector:
    """Samples a process now and then, since on a busy machine it may be slow but alive."""

    def __init__(
        self,
        pid: int,
        taken_s: Callable[[int], float] = cpu_s,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pid, self._taken_s, self._clock = pid, taken_s, clock
        self._looked: float | None = None
        self._before_s = 0.0

    def goes_on(self) -> bool:
        """Whether it computed since the last look; True until the next one is due."""
        now = self._clock()
        if self._looked is not None and now - self._looked < LOOK_S:
            return True
        taken_s = self._taken_s(self._pid)
        more_s, self._before_s, self._looked = taken_s - self._before_s, taken_s, now
        return more_s >= LEAST_S
