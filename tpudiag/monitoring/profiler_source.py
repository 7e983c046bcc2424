"""Follows a trainer by its profiler service: periodic short captures, by `tpudiag attach`."""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from tpudiag import scratch
from tpudiag.errors import UnreadableInput
from tpudiag.monitoring.recording import NS, Recording, Run, Window, bucket, merged
from tpudiag.signals import StepTimes

ADDRESS = re.compile(r"(grpc://)?(\[[0-9A-Fa-f:.]+\]|[^:/\[\]\s]+):\d{1,5}")
EVERY_S = 30.0
CAPTURE_S = 1
CAPTURE_LIMIT_S = 120.0
GIVEN_UP_AFTER = 3
PID = -1
"""Represents a process known by its address alone."""

LEAST_STEPS = 10
"""With fewer steps in a capture, their own times are more precise than their number."""


@dataclass(frozen=True)
class Sample:
    """The steps of one capture, None where the profile marks none, and its duration."""

    steps: StepTimes | None
    capture_ms: float | None = None

    @property
    def span_ms(self) -> float:
        """The time of its steps, including the gaps between them where there are many."""
        step_ms = self.steps.step_ms if self.steps is not None else ()
        counted = self.capture_ms if len(step_ms) >= LEAST_STEPS else None
        return max(counted or 0.0, sum(step_ms))


Captured = Callable[[str], Sample]
"""One capture of an address; raises UnreadableInput."""


def captured(address: str) -> Sample:
    """Capture a second."""
    from tpudiag.sources.profile import facts

    with scratch.folder("capture") as folder:
        # In a child process: a capture that hangs is ended after two minutes, and the watch goes
        # on.
        command = [sys.executable, "-m", "tpudiag", "attach", address]
        command += ["--duration", f"{CAPTURE_S}s", "--log-dir", str(folder)]
        command += ["--format", "json", "--fail-on", "never"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=CAPTURE_LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise UnreadableInput(f"{address}: no answer in {CAPTURE_LIMIT_S:.0f} s") from error
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise UnreadableInput(lines[-1].removeprefix("tpudiag: "))
        profile, steps = facts(folder)
        return Sample(steps, profile.capture_ms)


class ProfilerSource:
    """Samples of an address; each with steps is a window, unconnected to the one before."""

    def __init__(
        self,
        address: str,
        capture: Captured = captured,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._address, self._capture, self._now = address, capture, now
        self._run: Run | None = None
        self._due, self._number, self._failures = 0.0, 0, 0
        self.given_up: str | None = None
        """Why there are no more samples."""

    def poll(self) -> Sequence[Recording]:
        """The sample that is due, if any; raises UnreadableInput where the first one fails."""
        windows: tuple[Window, ...] = ()
        if self._now() >= self._due and self.given_up is None:
            windows = self._sample()
        assert self._run is not None
        return [Recording(self._run, windows, self._address)]

    def _sample(self) -> tuple[Window, ...]:
        began = self._now()
        # Scheduled from its start, and before it is tried: a failed capture is not repeated at
        # once, since each slows down the trainer.
        self._due = began + EVERY_S
        try:
            sample = self._capture(self._address)
        except UnreadableInput as error:
            if self._run is None:
                raise
            # One failure proves little: the service refuses us while somebody else captures.
            self._failures += 1
            self.given_up = str(error) if self._failures >= GIVEN_UP_AFTER else None
            return ()
        self._failures = 0
        ended_ns = int(self._now() * NS)
        if self._run is None:
            self._run = Run(
                id="samples",
                name=self._address,
                host=self._address,
                pid=PID,
                started_ns=int(began * NS),
                beat_ns=ended_ns,
            )
        if sample.steps is None or not sample.steps.step_ms:
            return ()
        return (self._window(sample, sample.steps, ended_ns),)

    def _window(self, sample: Sample, steps: StepTimes, ended_ns: int) -> Window:
        """The steps of a capture, placed before its end."""
        self._number += 1
        waits = steps.input_wait_ms
        return Window(
            number=self._number,
            # By this machine's clock, not the trainer's: ages are measured by it, too.
            start_ns=ended_ns - int(sample.span_ms * 1e6),
            end_ns=ended_ns,
            steps=len(steps.step_ms),
            step_ms=merged(((bucket(ms), 1),) for ms in steps.step_ms),
            wait_ms=None if waits is None else fmean(waits) * len(steps.step_ms),
        )
