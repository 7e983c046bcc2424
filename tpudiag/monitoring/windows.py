"""Builds windows from single steps."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from tpudiag.monitoring.recording import NS, Pause, Trace, Window, bucket, covered, in_order

WINDOW_NS = NS
USUAL_STEPS = 31
STALL_TIMES, STALL_NS = 10, NS // 10
"""A step so many times, and so much, longer than usual stalled."""
Step = tuple[int, int, int, int]
"""When it ended (performance counter, ns), how many steps, the wait for input (ns), and the number
of examples; the last two -1 where not measured."""
OF_KINDS = {"evaluation": "evaluation_ms", "checkpoint": "checkpoint_ms", "restore": "restore_ms"}


def stalled(took: float, count: int, usual_steps: Sequence[float]) -> float:
    """The excess time of steps that stalled, ns; else 0."""
    if len(usual_steps) < USUAL_STEPS:
        return 0.0
    usual = median(usual_steps) * count
    return took - usual if took > max(STALL_TIMES * usual, usual + STALL_NS) else 0.0


def losses_of(losses: Sequence[float]) -> dict[str, Any]:
    """A window's fields for the losses reported in it."""
    finite = [loss for loss in losses if math.isfinite(loss)]
    wild = [loss for loss in losses if not math.isfinite(loss)]
    return {
        "loss": finite[-1] if finite else None,
        "losses": len(losses),
        "bad_loss": None if not wild else "NaN" if any(map(math.isnan, wild)) else "Inf",
    }


class Windows:
    """Cuts the stream of steps into windows of a second, or of one step where that is longer.

    `shift_ns` converts the performance counter into time since the epoch.
    """

    def __init__(self, shift_ns: int, start: int, global_batch: int | None) -> None:
        self._shift_ns, self._start, self._last = shift_ns, start, start
        self._global_batch = global_batch
        self._number = 0
        self._waiting: list[Pause] = []
        self._first = True
        self._traces: list[Trace] = []
        self.ended_traces: list[Trace] = []
        self._usual: deque[float] = deque(maxlen=USUAL_STEPS)
        self._clear()

    def _clear(self) -> None:
        self._buckets: dict[int, int] = {}
        self._sums: dict[str, Any] = {"steps": 0, "examples": 0, "stalls": 0, "paused": 0}
        self._wait: int | None = None
        self._hbm: int | None = None
        self._losses: list[float] = []

    def add(
        self,
        steps: list[Step],
        pauses: list[Pause],
        hbm_bytes: int | None,
        *,
        ended: bool,
        traces: list[Trace] | None = None,
        losses: list[float] | None = None,
    ) -> Iterator[Window]:
        """The windows now complete, in order; all of them where the run has ended."""
        self._waiting += pauses
        self._traces += traces or []
        shift_ns = self._shift_ns
        self.ended_traces += [
            Trace(trace.function, trace.start_ns + shift_ns, trace.end_ns + shift_ns)
            for trace in traces or []
        ]
        self._hbm = self._hbm if hbm_bytes is None else hbm_bytes
        self._losses += losses or []
        # Keras may call back from another thread: steps may be out of order by a few microseconds.
        for step in sorted(steps):
            self._add(*step)
            if step[0] - self._start >= WINDOW_NS:
                yield self._cut()
        if ended:
            # A checkpoint after the last step is in no step's window.
            self._last = max([self._last, *(pause.end_ns for pause in self._waiting)])
            self._pause(self._last)
            if self._sums["steps"] or self._sums["paused"]:
                yield self._cut()

    def _add(self, end: int, count: int, wait: int, examples: int) -> None:
        took = max(end - self._last, 0)
        # A pause counts in the step in which it ended: it cannot be split while it lasts.
        took -= min(self._pause(end), took)
        key = bucket(took / count / 1e6)
        self._buckets[key] = self._buckets.get(key, 0) + count
        compiling = self._compiling(end, took, count)
        self._sum("compile_ms", compiling / 1e6)
        worked = took - max(wait, 0)
        if not compiling and worked >= STALL_NS and (lost := stalled(worked, count, self._usual)):
            self._sum("stalled_ms", lost / 1e6)
            self._sums["stalls"] += 1
        self._sums["steps"] += count
        self._sums["examples"] += count * (self._global_batch or 0) if examples < 0 else examples
        if wait >= 0:
            self._wait = (self._wait or 0) + wait
        self._last = max(end, self._last)

    def _pause(self, until: int) -> int:
        """Take the pauses that ended before a time; returns their length, ns."""
        if not self._waiting:
            return 0
        ended = [pause for pause in self._waiting if pause.end_ns <= until]
        self._waiting = [pause for pause in self._waiting if pause.end_ns > until]
        by_kind = covered(ended)
        for kind, took in by_kind.items():
            self._sum(OF_KINDS.get(kind, "other_ms"), took / 1e6)
            self._sum("pause_ms", took / 1e6)
        self._sums["paused"] += len(ended)
        saved = [pause.end_ns for pause in ended if pause.kind == "checkpoint"]
        if saved:
            self._sums["saved_ns"] = max(saved) + self._shift_ns
        return sum(by_kind.values())

    def _sum(self, name: str, value: float) -> None:
        self._sums[name] = self._sums.get(name, 0.0) + value

    def _compiling(self, end: int, took: int, count: int) -> float:
        """The time of a step spent on tracing and compiling, ns: the excess over the usual."""
        if not self._traces and not self._first:  # the common case, at each step
            self._usual.append(took / count)
            return 0.0
        traced = [trace for trace in self._traces if trace.start_ns < end]
        self._traces = [trace for trace in self._traces if trace.start_ns >= end]
        first, self._first = self._first, False
        usual = median(self._usual) * count if self._usual else 0.0
        # Without a usual step to compare with, a step that traced counts as compilation in full: on
        # a TPU nearly all of it is.
        if first or (traced and not self._usual):
            return float(took)
        if traced:
            own = sum(trace.end_ns - trace.start_ns for trace in traced)
            # Compilation and transfer follow a trace without an event of their own: the excess
            # holds all.
            return float(min(took, max(took - usual, own)))
        self._usual.append(took / count)
        return 0.0

    def _cut(self) -> Window:
        sums = {name: value for name, value in self._sums.items() if name != "other_ms"}
        sums["examples"] = sums["examples"] or None
        window = Window(
            number=self._number,
            start_ns=self._start + self._shift_ns,
            end_ns=self._last + self._shift_ns,
            step_ms=in_order(self._buckets),
            wait_ms=None if self._wait is None else self._wait / 1e6,
            hbm_bytes=self._hbm,
            **losses_of(self._losses),
            **sums,
        )
        self._number += 1
        self._start = self._last
        self._clear()
        return window
