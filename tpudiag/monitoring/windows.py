"""Makes windows of single steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import median
from typing import TypeVar

from tpudiag.monitoring.recording import NS, Pause, Trace, Window, bucket, in_order

WINDOW_NS = NS
USUAL_STEPS = 31
Span = TypeVar("Span", Pause, Trace)
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
        self._compile = 0.0
        self._first = True
        self._traces: list[Trace] = []
        self.ended_traces: list[Trace] = []
        self._usual: deque[float] = deque(maxlen=USUAL_STEPS)

    def add(
        self,
        steps: list[Step],
        pauses: list[Pause],
        hbm_bytes: int | None,
        *,
        ended: bool,
        traces: list[Trace] | None = None,
    ) -> Iterator[Window]:
        """The windows that are full now, in order; all of them where the run has ended."""
        self._waiting += pauses
        self._traces += traces or []
        self.ended_traces += [self._dated(trace) for trace in traces or []]
        self.ended_pauses += [self._dated(pause) for pause in pauses]
        self._hbm = self._hbm if hbm_bytes is None else hbm_bytes
        # Keras may call back from another thread, and the queue then holds steps out of order by a
        # few microseconds.
        for end, count, wait in sorted(steps):
            self._add(end, count, wait)
            if end - self._start >= WINDOW_NS:
                yield self._cut()
        if ended and self._steps:
            yield self._cut()

    def _add(self, end: int, count: int, wait: int) -> None:
        """One record of the queue."""
        took = max(end - self._last, 0)
        paused = 0
        if self._waiting:
            paused = _together(p for p in self._waiting if p.end_ns <= end)
            # A pause counts in the step in which it ended: its part before that is not known while
            # it lasts.
            self._waiting = [p for p in self._waiting if p.end_ns > end]
        key = bucket(max(took - paused, 0) / count / 1e6)
        self._buckets[key] = self._buckets.get(key, 0) + count
        self._paused += min(paused, took)
        self._compile += self._compiling(end, max(took - paused, 0), count)
        self._steps += count
        if wait >= 0:
            self._wait = (self._wait or 0) + wait
        self._last = max(end, self._last)

    def _compiling(self, end: int, took: int, count: int) -> float:
        """The part of a step that tracing and compiling took, ns: beyond the usual."""
        if not self._traces and not self._first:  # as nearly always: each step pays for this
            self._usual.append(took / count)
            return 0.0
        traced = [trace for trace in self._traces if trace.start_ns < end]
        self._traces = [trace for trace in self._traces if trace.start_ns >= end]
        first, self._first = self._first, False
        usual = median(self._usual) * count if self._usual else 0.0
        # With no usual step to hold it against, all of a step that traced counts as compilation: on
        # a TPU nearly all of it is.
        if first or (traced and not self._usual):
            return float(took)
        if traced:
            own = sum(trace.end_ns - trace.start_ns for trace in traced)
            # A trace also costs what comes after it, compilation and transfer, which nothing
            # announces: the step's excess over the usual holds both.
            return float(min(took, max(took - usual, own)))
        self._usual.append(took / count)
        return 0.0

    def _cut(self) -> Window:
        """The window up to the last step."""
        window = Window(
            number=self._number,
            start_ns=self._start + self._shift_ns,
            end_ns=self._last + self._shift_ns,
            steps=self._steps,
            step_ms=in_order(self._buckets),
            wait_ms=None if self._wait is None else self._wait / 1e6,
            pause_ms=self._paused / 1e6,
            hbm_bytes=self._hbm,
            examples=None if self._global_batch is None else self._steps * self._global_batch,
            compile_ms=self._compile / 1e6,
        )
        self._number += 1
        self._start = self._last
        self._clear()
        return window

    def _clear(self) -> None:
        """Nothing in the window."""
        self._buckets = {}
        self._steps, self._paused = 0, 0
        self._wait = self._hbm = None
        self._compile = 0.0

    def _dated(self, span: Span) -> Span:
        """The pause, or the trace, in time since the epoch."""
        return replace(
            span, start_ns=span.start_ns + self._shift_ns, end_ns=span.end_ns + self._shift_ns
        )


def _together(pauses: Iterable[Pause]) -> int:
    """The time that pauses cover, ns: one may lie within another."""
    covered, until = 0, 0
    for pause in sorted(pauses, key=lambda one: one.start_ns):
        covered += max(pause.end_ns - max(pause.start_ns, until), 0)
        until = max(until, pause.end_ns)
    return covered
