"""Ages by clocks that never jump: neither NTP nor a resume from suspend looks like a stall."""

import time
from collections.abc import Callable

from tpudiag.monitoring import machine
from tpudiag.monitoring.recording import NS, Run


class Clock:
    """Time since the epoch without jumps: read once, then advanced by the monotonic clock."""

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.perf_counter_ns,
        this_machine: str | None = None,
    ) -> None:
        self.monotonic_ns = monotonic_ns
        self.machine = machine.machine() if this_machine is None else this_machine
        self._shift_ns = wall_ns() - monotonic_ns()

    def now_ns(self) -> int:
        """The time since the epoch, advanced monotonically."""
        return self.monotonic_ns() + self._shift_ns

    def now_of(self, run: Run) -> int | None:
        """The same as the run counts it; None where its clock is another."""
        if run.monotonic_ns is None or not machine.same_clock(run.machine, self.machine):
            return None
        return self.monotonic_ns() - run.monotonic_ns + run.started_ns


class Ages:
    """How long ago a run was last heard of and made its last step."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._run: Run | None = None
        self._seen = self._heard_ns = 0
        self._old_s = 0.0

    def hear(self, run: Run, last_step_ns: int) -> None:
        """Note a poll's result: the run, and the end of its last step."""
        before, self._run = self._run, run
        # A value that changes with news: a recorder writes always, event files at steps.
        mark = run.last_ns if run.pid > 0 else last_step_ns
        new = before is None or before.id != run.id
        if not new and self._seen == mark:
            return
        self._seen = mark
        self._heard_ns = self._clock.monotonic_ns()
        # At the first poll its age is known only from the clocks of two machines.
        self._old_s = max((self._clock.now_ns() - mark) / NS, 0.0) if new else 0.0

    def quiet_s(self) -> float:
        """Time since the run's recorder last wrote."""
        assert self._run is not None
        now_ns = self._clock.now_of(self._run)
        if now_ns is not None:
            return max((now_ns - self._run.last_ns) / NS, 0.0)
        return self._old_s + (self._clock.monotonic_ns() - self._heard_ns) / NS

    def silent_s(self, last_step_ns: int) -> float:
        """Time since the last step."""
        assert self._run is not None
        if self._run.pid > 0:  # by its own clock up to when it last wrote
            return max((self._run.last_ns - last_step_ns) / NS, 0.0) + self.quiet_s()
        apart_s = max((self._clock.now_ns() - last_step_ns) / NS, 0.0)
        heard_s = self._old_s + (self._clock.monotonic_ns() - self._heard_ns) / NS
        return heard_s if apart_s < heard_s or apart_s > heard_s + STEP_S else apart_s


STEP_S = 300.0
"""Event files are flushed within this time; a larger difference is a clock jump."""
