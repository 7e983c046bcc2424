"""What a job delivers: its share of the wall's clock, pauses and stalls included.

Steps may be as fast as ever while saves, evaluations or stalls between them take the time. One
long pause is a habit of many jobs; at least three within a span are what the job does now.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from statistics import median

from tpudiag.monitoring.ledger import TimeUse, parts
from tpudiag.monitoring.recording import NS, Window
from tpudiag.signals.delivery import DeliveryFall

SPANS_S = (120.0, 300.0, 600.0, 3_600.0)
SHOWN_S = 600.0
TIMES = 3
EARLY = 0.30
"""The share of the time that is lost, where nothing is known of the job yet."""
FELL = 0.20
"""The same beyond what is usual for the job."""
OVER = 0.5
"""Of what was found, it must fall below this to be over."""
BLOCK_S = 600.0
BLOCKS = 36
EVERY_S = 5.0
WORDS = {
    TimeUse.EVALUATION: "evaluation",
    TimeUse.SAVE: "checkpoint",
    TimeUse.RESTORE: "restore",
    TimeUse.OTHER: "other pauses",
    TimeUse.STALLED: "stalls that nothing announced",
}


@dataclass(frozen=True)
class _Part:
    """A window, as far as it counts here."""

    end_ns: int
    whole_s: float
    units: float
    times: int
    lost: dict[str, float]


class Delivery:
    """Takes windows in their order; `fall` is what is lost now."""

    def __init__(self) -> None:
        self._parts: deque[_Part] = deque()
        self._due_ns = 0
        self._block = [0.0, 0.0]
        self._usual: deque[float] = deque(maxlen=BLOCKS)
        self.fall: DeliveryFall | None = None

    def add(self, window: Window) -> None:
        """One more window."""
        uses = parts(window)
        lost = {word: uses[use] for use, word in WORDS.items() if uses.get(use)}
        if uses.get(TimeUse.COMPILE, 0.0) > 0.5 * window.whole_s:
            return  # compilation has a cause and a check of its own
        units = window.steps if window.examples is None else window.examples
        times = window.stalls + window.paused
        self._parts.append(_Part(window.end_ns, window.whole_s, units, times, lost))
        while self._parts[0].end_ns < window.end_ns - SPANS_S[-1] * NS:
            self._parts.popleft()
        if window.end_ns >= self._due_ns:
            self._due_ns = window.end_ns + int(EVERY_S * NS)
            self._judge()
        if self.fall is None:
            self._learn(window.whole_s, sum(lost.values()))

    def per_s(self, silent_s: float = 0.0) -> float | None:
        """Units a second by the wall's clock over the last ten minutes, silence included."""
        seen = self._last(SHOWN_S - silent_s)
        whole_s = sum(one.whole_s for one in seen) + silent_s
        if silent_s >= SHOWN_S:
            return 0.0
        return sum(one.units for one in seen) / whole_s if seen and whole_s else None

    def _last(self, span_s: float) -> list[_Part]:
        """The windows of the last so many seconds."""
        if not self._parts:
            return []
        since_ns = self._parts[-1].end_ns - span_s * NS
        return [one for one in self._parts if one.end_ns - one.whole_s * NS >= since_ns - NS]

    def _learn(self, whole_s: float, lost_s: float) -> None:
        """What is usual, by blocks in which nothing was found."""
        self._block[0] += whole_s
        self._block[1] += lost_s
        if self._block[0] >= BLOCK_S:
            self._usual.append(self._block[1] / self._block[0])
            self._block = [0.0, 0.0]

    def _judge(self) -> None:
        """Whether more is lost than is usual, at any span."""
        usual = median(self._usual) if self._usual else None
        limit = EARLY if usual is None else max(usual + FELL, EARLY if usual < 0.05 else 0.0)
        if self.fall is not None:
            limit = (usual or 0.0) + OVER * (self.fall.lost - (usual or 0.0))
            worst = self._over(SPANS_S[1], limit, usual, least_times=0)
            self.fall = worst
            return
        for span_s in SPANS_S:
            fall = self._over(span_s, limit, usual, least_times=TIMES)
            if fall is not None:
                self.fall, self._block = fall, [0.0, 0.0]
                return

    def _over(
        self, span_s: float, limit: float, usual: float | None, least_times: int
    ) -> DeliveryFall | None:
        """What a span lost, where that is over a limit."""
        seen = self._last(span_s)
        whole_s = sum(one.whole_s for one in seen)
        times = sum(one.times for one in seen)
        lost: dict[str, float] = {}
        for one in seen:
            for word, seconds in one.lost.items():
                lost[word] = lost.get(word, 0.0) + seconds
        lost_s = sum(lost.values())
        if whole_s < 0.75 * span_s or times < least_times or lost_s < limit * whole_s:
            return None
        words = tuple(sorted(lost.items(), key=lambda one: -one[1]))
        units = sum(one.units for one in seen)
        return DeliveryFall(
            lost=lost_s / whole_s,
            usual=usual,
            span_s=whole_s,
            times=times,
            kinds=words,
            per_s=units / whole_s,
            stepping_per_s=units / max(whole_s - lost_s, 1e-9),
        )
