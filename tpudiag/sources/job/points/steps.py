"""Counts training steps, opens and closes the profile, and stops the job."""

import time
from collections.abc import Callable

from tpudiag.sources.job.points import Library

TIMES_STOPPED_BEFORE_EXIT = 3
FEWEST_STEPS = 4
TELL_S = 0.25
TRACED_STEPS = 8
"""Traced steps that are observed where none is run, which cost nothing: enough for their loop."""


class StopObservation(BaseException):
    """Raised in the job once enough was observed; no Exception, so that few handlers swallow it."""


class StepWatch:
    """The job's step clock.

    After `warmup` steps the profile starts, `steps` later it stops and `on_stop` is called. If that
    continues the job, further steps are ignored; else each raises StopObservation, and code that
    swallows it too often makes `on_swallowed` end the process.
    """

    def __init__(
        self,
        tf: Library | None,
        warmup: int,
        steps: int,
        log_dir: str,
        on_first: Callable[[], None],
        on_stop: Callable[[], bool],
        on_swallowed: Callable[[], None],
        on_step: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        self._tf = tf
        self._warmup, self._wanted, self._log_dir = warmup, steps, log_dir
        self._on_first, self._on_stop, self._on_swallowed = on_first, on_stop, on_swallowed
        self._on_step = on_step
        self._told_at = 0.0
        self._profiling = False
        self._timed = True
        self._stops = 0
        self._observed = False
        self._last_end: float | None = None
        self._last_cpu_s = 0.0
        self.budget_s = 0.0
        """CPU seconds for all of them; 0 for no limit."""
        self.cut_to: int | None = None
        """The number of steps that the budget allowed to profile, None where it allowed all."""
        self.steps_per_dispatch = 1
        self.steps = 0
        self.eager_steps = 0
        self.times_ms: list[float] = []
        """Times of steps after the first two, the profiled ones last."""
        self.profiled_ms: list[float] = []

    def finished_dispatch(
        self, eager: bool = False, enough: bool = False, unusual: bool = False
    ) -> None:
        """A dispatch of training steps ended; runs on the job's main thread.

        `enough` ends the observation early: what is wrong is seen, and going on would only cost.
        One that traced, or before which the job evaluated or saved, is `unusual`: it does not tell
        what the next ones take.
        """
        if self._observed:
            return
        now = time.perf_counter()
        # Not the first two dispatches: the first one traces, and the second still creates the
        # optimizer's state.
        later = self._last_end is not None and self.steps > self.steps_per_dispatch
        if self._timed and later and self._last_end is not None:
            took_ms = (now - self._last_end) * 1e3 / self.steps_per_dispatch
            (self.profiled_ms if self._profiling else self.times_ms).append(took_ms)
            if not unusual:
                step_cpu_s = (time.process_time() - self._last_cpu_s) / self.steps_per_dispatch
                left = self._warmup + self._wanted - self.steps
                if self.budget_s and not self._profiling and step_cpu_s * left > self.budget_s:
                    self.cut_to = max(int(self.budget_s / step_cpu_s), FEWEST_STEPS)
                    self._warmup, self._wanted = self.steps, self.cut_to
                    self.budget_s = 0.0
        self.steps += self.steps_per_dispatch
        self.eager_steps += self.steps_per_dispatch * eager
        if self.steps == self.steps_per_dispatch:
            self._on_first()
        if now - self._told_at >= TELL_S:  # a report may take longer than a step
            self._told_at = now
            self._on_step(self.steps, self._warmup + self._wanted)
        if self._stops or enough or self.steps >= self._warmup + self._wanted:
            self._stop()
        elif self._tf and self._log_dir and not self._profiling and self.steps >= self._warmup:
            # Between two dispatches, on the main thread: otherwise the profile would hold half a
            # step.
            self._tf.profiler.experimental.start(self._log_dir)
            self._profiling = True
        self._last_end, self._last_cpu_s = time.perf_counter(), time.process_time()

    def only_traced(self) -> None:
        """Steps are not run: there is nothing to time or profile."""
        self._timed, self._log_dir, self._warmup, self._wanted = False, "", 0, TRACED_STEPS

    def close_profile(self) -> None:
        """Stop an open profile, and write it."""
        if self._profiling and self._tf is not None:
            self._profiling = False
            self._tf.profiler.experimental.stop()

    def _stop(self) -> None:
        self._stops += 1
        if self._stops == 1:
            self._observed = self._on_stop()
        if self._observed:
            return
        if self._stops > TIMES_STOPPED_BEFORE_EXIT:
            self._on_swallowed()
        # Raised inside the job's own call: its `with` and `finally` blocks run, and files are
        # closed as at its own end.
        raise StopObservation
