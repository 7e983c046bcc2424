"""A job's delivery per wall time, pauses and stalls included.

Steps may keep their speed while saves, evaluations or stalls between them take the time. One long
pause is usual in many jobs; three within a span are a pattern.
"""

from bisect import bisect_left
from collections import deque
from statistics import median

from tpudiag.monitoring.ledger import TimeUse, parts
from tpudiag.monitoring.recording import NS, Window
from tpudiag.signals.delivery import DeliveryFall

SPANS_S = (120.0, 300.0, 600.0, 3_600.0)
SHOWN_S = 600.0
TIMES = 3
EARLY = 0.30
"""The limit of the lost share of time, while the job's own is not known."""
FELL = 0.20
"""The limit of the loss beyond the job's usual one."""
OVER = 0.5
"""A finding ends below this share of it."""
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


Sums = tuple[float, ...]
"""Seconds of the clock, units, pauses and stalls, and lost seconds by use, in their order."""


class Delivery:
    """Takes windows in order; `fall` is the current loss."""

    def __init__(self) -> None:
        self._sums = [0.0] * (3 + len(WORDS))
        self._times_ns: list[int] = []
        self._kept: list[Sums] = []
        """The sums so far, every few seconds: a span is the difference of two."""
        self._last_ns = 0
        self._block = [0.0, 0.0]
        self._usual: deque[float] = deque(maxlen=BLOCKS)
        self.fall: DeliveryFall | None = None

    def add(self, window: Window) -> None:
        """One more window."""
        uses = parts(window)
        # Compilation has a cause and a check of its own.
        if uses[TimeUse.COMPILE] > 0.5 * window.whole_s:
            return
        if not self._kept:
            self._keep(window.start_ns)
        units = window.steps if window.examples is None else window.examples
        lost = [uses.get(use, 0.0) for use in WORDS]
        new = (window.whole_s, units, window.stalls + window.paused, *lost)
        for index, value in enumerate(new):
            self._sums[index] += value
        self._last_ns = window.end_ns
        if self.fall is None:  # the usual loss is learnt from blocks without a finding
            self._block[0] += window.whole_s
            self._block[1] += sum(lost)
            if self._block[0] >= BLOCK_S:
                self._usual.append(self._block[1] / self._block[0])
                self._block = [0.0, 0.0]
        if window.end_ns >= self._times_ns[-1] + EVERY_S * NS:
            self._judge()
            self._keep(window.end_ns)

    def _keep(self, at_ns: int) -> None:
        """Keep the current sums, and drop those older than an hour from time to time."""
        self._times_ns.append(at_ns)
        self._kept.append(tuple(self._sums))
        if len(self._kept) > 2 * SPANS_S[-1] / EVERY_S:
            old = bisect_left(self._times_ns, at_ns - int(SPANS_S[-1] * NS)) - 1
            del self._times_ns[:old], self._kept[:old]

    def per_s(self, silent_s: float = 0.0) -> float | None:
        """Units per second of wall time over the last ten minutes, silence included."""
        if not self._kept or silent_s >= SHOWN_S:
            return 0.0 if self._kept else None
        whole_s, units, *_ = self._since(SHOWN_S - silent_s)
        return units / (whole_s + silent_s) if whole_s + silent_s else None

    def _since(self, span_s: float) -> Sums:
        first = bisect_left(self._times_ns, self._last_ns - int(span_s * NS))
        kept = self._kept[min(first, len(self._kept) - 1)]
        return tuple(now - before for now, before in zip(self._sums, kept, strict=True))

    def _judge(self) -> None:
        """Whether more is lost than usual, over any span."""
        usual = median(self._usual) if self._usual else None
        limit = EARLY if usual is None else max(usual + FELL, EARLY if usual < 0.05 else 0.0)
        if self.fall is not None:
            limit = (usual or 0.0) + OVER * (self.fall.lost - (usual or 0.0))
            self.fall = self._over(SPANS_S[1], limit, usual, least_times=0)
            return
        for span_s in SPANS_S:
            fall = self._over(span_s, limit, usual, least_times=TIMES)
            if fall is not None:
                self.fall, self._block = fall, [0.0, 0.0]
                return

    def _over(
        self, span_s: float, limit: float, usual: float | None, least_times: int
    ) -> DeliveryFall | None:
        whole_s, units, times, *lost = self._since(span_s)
        lost_s = sum(lost)
        if whole_s < 0.75 * span_s or times < least_times or lost_s < limit * whole_s:
            return None
        kinds = sorted(zip(WORDS.values(), lost, strict=True), key=lambda one: -one[1])
        return DeliveryFall(
            lost=lost_s / whole_s,
            usual=usual,
            span_s=whole_s,
            times=round(times),
            kinds=tuple((word, seconds) for word, seconds in kinds if seconds > 0),
            per_s=units / whole_s,
            stepping_per_s=units / max(whole_s - lost_s, 1e-9),
        )
