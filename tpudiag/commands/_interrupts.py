"""Ctrl-C and a plain kill while a report is being finished: what was seen is not lost for them."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from typing import Any

from tpudiag.printing import say

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SAME_S = 0.3
"""Signals so close are one: `timeout` sends its own to the process and to its group."""


class Interrupts:
    """Ends the work at once, but for its last seconds, in which the first signal waits."""

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
        """Hears of phases: from this one on the report is being finished."""

        def hear(now: str) -> None:
            self._finishing = self._finishing or now == phase
            on_phase(now)

        return hear

    def look(self) -> None:
        """Raises KeyboardInterrupt where one was raised already, and got lost.

        What a signal's handler raises goes nowhere where Python was in a finaliser, or in a call of
        C code that takes no exception: a loop asks in each round.
        """
        if self._ended:
            raise KeyboardInterrupt

    def _came(self, *_: object) -> None:
        """The first signal waits where the report is being finished; any other ends the work."""
        before, self._came_at = self._came_at, self._clock()
        if self._came_at - before < SAME_S:
            return
        if not self._finishing or self.waits or self._ended:
            self._ended = True
            raise KeyboardInterrupt
        self.waits = True
        say("finishing the report; once more ends at once")
