"""Ends the job when its time past the first loop is over, wherever it is.

It is CPU time, so that other users of the machine reduce it less; and no more by the clock.
"""

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterable

from tpudiag.script_run import Coverage, CoverageEnd, ShortenedLoop, StepFunction
from tpudiag.sources.job.points import barrier, main_flow, user_lines
from tpudiag.sources.job.points.steps import StopObservation

GRACE_S = 8.0
"""The time for the job to end after it was stopped; then `on_hard_end` ends it."""
LOOK_S, TOLD_EVERY_S = 0.05, 5.0
"""The shortest interval between looks at the clock, and the longest."""
NEAR_END_SHARE = 0.5
"""Additional share of its time for a job that is almost at its end."""


class BudgetSpent(StopObservation):
    """Raised in the job's main thread when the time for the rest of the script is over."""


class Deadline:
    """A clock on its own thread, started once the first loop was observed.

    `near_end` returns, when the time is over, whether little of the script is left.
    """

    def __init__(
        self,
        budget_s: float,
        on_hard_end: Callable[[], None],
        near_end: Callable[[], bool] = lambda: False,
    ) -> None:
        self._budget_s, self._on_hard_end, self._near_end = budget_s, on_hard_end, near_end
        self._over = threading.Event()
        self._started_s = time.process_time()
        self._main = threading.get_ident()
        self.spent = False
        self.tell: Callable[[], None] = lambda: None
        """Tells how far the script is, which may be killed, for want of memory or time."""
        self.began: float | None = None
        """When the rest of the script began."""

    def start(self) -> None:
        """Start the clock."""
        self.began = time.perf_counter()
        self._main, self._started_s = threading.get_ident(), time.process_time()
        threading.Thread(target=self._run, name="tpudiag-deadline", daemon=True).start()

    def left_s(self) -> float:
        """The CPU time that is left."""
        return self._budget_s - (time.process_time() - self._started_s)

    def cancel(self) -> None:
        """The job ended, or is being ended."""
        self._over.set()

    def coverage(
        self,
        end: CoverageEnd,
        functions: Iterable[StepFunction],
        stack: list[tuple[str, int, int]],
        shortened: tuple[ShortenedLoop, ...] = (),
    ) -> Coverage:
        """What of the script was run until its main thread stood there."""
        places = (user_lines.of(file, line) for file, _, line in reversed(stack))
        return Coverage(
            end=end,
            functions=tuple(functions),
            shortened=shortened,
            stopped_at=next(filter(None, places), None),
            unreached=barrier.attempt("main flow", main_flow.unreached, stack) or (),
            rest_s=time.perf_counter() - self.began if self.began is not None else 0.0,
        )

    def check(self) -> None:
        """Raise in a job that continues although it was stopped."""
        # A job that catches BaseException in its loop swallows the one exception that was set:
        # raise it again at each step.
        if self.spent and not self._over.is_set():
            raise BudgetSpent

    def _run(self) -> None:
        if self._ended_within(self._budget_s):
            return
        if self._near_end() and self._ended_within(self._budget_s * NEAR_END_SHARE):
            return
        self.spent = True
        # The only way to stop Python code in another thread: an exception set from outside, raised
        # at the next bytecode. It does not reach a thread inside C++, hence the grace time and the
        # hard end.
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self._main), ctypes.py_object(BudgetSpent)
        )
        if not self._over.wait(GRACE_S):
            self._on_hard_end()

    def _ended_within(self, budget_s: float) -> bool:
        """Whether the job ended within so many seconds of CPU time."""
        spent, began = time.process_time(), time.monotonic()
        while True:
            left_s = budget_s - (time.process_time() - spent)
            waited_s = time.monotonic() - began
            if left_s <= 0 or waited_s >= budget_s:
                return self._over.is_set()
            cores = os.cpu_count() or 1
            wait_s = min(left_s / cores, budget_s - waited_s, TOLD_EVERY_S)
            if self._over.wait(max(wait_s, LOOK_S)):
                return True
            self.tell()
