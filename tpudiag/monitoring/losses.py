"""Watches the reported loss: NaN, Inf, an explosion, a standstill."""

from collections import deque
from dataclasses import replace

from tpudiag.monitoring.recording import Window
from tpudiag.signals.delivery import LossFault, LossTrouble

FIRST, LEAST_FIRST, LAST = 20, 1, 5
TIMES = 10.0
"""An explosion: so many times the largest of the first losses, in all of the last windows."""
STILL = 20
"""A standstill: windows with a reported loss, identical to the digit."""


class Losses:
    """Takes windows in their order."""

    def __init__(self) -> None:
        self._steps = self._windows = 0
        self.said = 0
        """How often the job reported its loss."""
        self._first: list[float] = []
        self._last: deque[float] = deque(maxlen=STILL)
        self._since: deque[int] = deque(maxlen=STILL)
        self._bad: LossTrouble | None = None
        self._exploded: tuple[float, int] | None = None
        """The largest loss before the explosion, and its step; later ones are no measure."""

    def add(self, window: Window) -> None:
        """One more window."""
        self._steps += window.steps
        if not window.losses:
            return
        self.said += window.losses
        if window.bad_loss is not None:
            # The first one: NaN stays, and its duration shows what was wasted.
            bad = self._bad or LossTrouble(
                what=window.bad_loss,
                step=self._steps,
                last=self._last[-1] if self._last else None,
                first=self._first[0] if self._first else None,
                said=0,
            )
            self._bad = replace(bad, said=bad.said + window.losses)
            return
        if window.loss is None:
            return
        self._bad = None  # a skipped step: training continues
        if self._windows < FIRST and self._exploded is None:
            self._first.append(window.loss)
        self._windows += 1
        self._last.append(window.loss)
        self._since.append(self._steps)
        # Whether it is far above its earlier values in all last windows, until it recovers.
        if self._exploded is not None:
            if abs(window.loss) <= TIMES * self._exploded[0]:
                self._exploded = None
        elif self._windows >= LAST + LEAST_FIRST:
            # None of the last windows is one of the first.
            most = max(map(abs, self._first[: self._windows - LAST]))
            if most > 0 and min(map(abs, [*self._last][-LAST:])) > TIMES * most:
                self._exploded = most, self._since[-LAST]
                del self._first[self._windows - LAST :]

    @property
    def trouble(self) -> LossTrouble | None:
        """The loss's present fault, None where there is none or no loss is reported."""
        if self._bad is not None:
            return self._bad
        if self._exploded is not None:
            return self._trouble("explodes", self._exploded[1], LAST)
        if len(self._last) == STILL and len(set(self._last)) == 1:
            return self._trouble("stands still", self._since[0], STILL)
        return None

    def _trouble(self, what: LossFault, step: int, windows: int) -> LossTrouble:
        return LossTrouble(
            what=what, step=step, last=self._last[-1], first=self._first[0], said=windows
        )
