"""Makes windows of single steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tpudiag.monitoring.recording import NS, Pause, Window, bucket, in_order

WINDOW_NS = NS
Step = tuple[int, int, int]
"""When it ended (performance counter, ns), how many steps, how long it waited for input (ns)."""


class Windows:
    """Cuts the stream of steps into windows of a second, or of one step where that is longer.

    `shift_ns` turns the performance counter into time since the epoch.
    """

    def __init__(self, shift_ns: int, start: int, global_batch: int | None) -> None:
        self._shift_ns, self._start, self._last = shift_ns, start, start
        self._global_batch = global_batch
        self._number = 0
        self._waiting: list[Pause] = []
        self.ended_pauses: list[Pause] = []
        self._buckets: dict[int, int] = {}
        self._steps, self._paused = 0, 0
        self._wait: int | None = None
        self._hbm: int | None = None

    def add(
        self, steps: list[Step], pauses: list[Pause], hbm_bytes: int | None, *, ended: bool
    ) -> Iterator[Window]:
        """The windows that are full now, in order; all of them where the run has ended."""
        self._waiting += pauses
        self.ended_pauses += [self._dated(pause) for pause in pauses]
        self._hbm = self._hbm if hbm_bytes is None else hbm_bytes
        for end, count, wait in sorted(steps):
            self._add(end, count, wait)
            if end - self._start >= WINDOW_NS:
                yield self._cut()
        if ended and self._steps:
            yield self._cut()

    def _add(self, end: int, count: int, wait: int) -> None:
        """One record of the queue."""
        took = max(end - self._last, 0)
        paused = sum(p.end_ns - p.start_ns for p in self._waiting if p.end_ns <= end)
        self._waiting = [p for p in self._waiting if p.end_ns > end]
        key = bucket(max(took - paused, 0) / count / 1e6)
        self._buckets[key] = self._buckets.get(key, 0) + count
        self._paused += min(paused, took)
        self._steps += count
        if wait >= 0:
            self._wait = (self._wait or 0) + wait
        self._last = max(end, self._last)

    def _cut(self) -> Window:
        """The window up to the last step."""
        window = Window(
            self._number, self._start + self._shift_ns, self._last + self._shift_ns,
            self._steps, in_order(self._buckets),
            None if self._wait is None else self._wait / 1e6, self._paused / 1e6, self._hbm,
            None if self._global_batch is None else self._steps * self._global_batch,
        )  # fmt: skip
        self._number += 1
        self._start = self._last
        self._clear()
        return window

    def _clear(self) -> None:
        """Nothing in the window."""
        self._buckets = {}
        self._steps, self._paused = 0, 0
        self._wait = self._hbm = None

    def _dated(self, pause: Pause) -> Pause:
        """The pause in time since the epoch."""
        return replace(
            pause, start_ns=pause.start_ns + self._shift_ns, end_ns=pause.end_ns + self._shift_ns
        )
