"""Keeps Ctrl-C and SIGTERM from losing results while a report is being finished."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from typing import Any

from tpudiag.printing import say

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SAME_S = 0.3
"""Signals within this time count as one: `timeout` signals both the process and its group."""


class Interrupts:
    """Ends the work at once, except while the report is finished, when the first signal waits."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._came_at = clock, -math.inf
        self.waits = False
        """Whether a signal came while the report was being finished."""
        self._finishing = self._ended = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        self._before = {number: signal.signal(number, self._came) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def finishing_at(self, phase: str, on_phase: Callable[[str], None]) -> Callable[[str], None]:
        """Watches phases: from this one on the report is being finished."""

        def hear(now: str) -> None:
            self._finishing = self._finishing or now == phase
            on_phase(now)

        return hear

    def look(self) -> None:
        """Raise a KeyboardInterrupt that was raised before, and got lost.

        A signal handler's exception is lost in a finaliser, or in C code that ignores exceptions: a
        loop checks in each iteration.
        """
        if self._ended:
            raise KeyboardInterrupt

    def _came(self, *_: object) -> None:
        """The first signal waits while the report is finished; any other ends the work."""
        before, self._came_at = self._came_at, self._clock()
        if self._came_at - before < SAME_S:
            return
        if not self._finishing or self.waits or self._ended:
            self._ended = True
            raise KeyboardInterrupt
        self.waits = True
        say("finishing the report; once more ends at once")
