"""Follows a trainer by its profiler service: a short capture now and then, by `tpudiag attach`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import fmean

from tpudiag.errors import UnreadableInput
from tpudiag.monitoring.samples import NS, Recording, Run, Window, bucket, merged
from tpudiag.signals import StepTimes

ADDRESS = re.compile(r"(grpc://)?(\[[0-9A-Fa-f:.]+\]|[^:/\[\]\s]+):\d{1,5}")
EVERY_S = 30.0
CAPTURE_S = 1
CAPTURE_LIMIT_S = 120.0
GIVEN_UP_AFTER = 3
PID = -1
"""Stands for a process that is known by its address alone."""

Captured = Callable[[str], StepTimes | None]
"""The steps of one capture of an address; raises UnreadableInput."""


def captured(address: str) -> StepTimes | None:
    """Capture a second; the steps in it, None where the profile marks none."""
    from tpudiag.sources.profile import facts

    with tempfile.TemporaryDirectory(prefix="tpudiag-") as folder:
        command = [
            sys.executable, "-m", "tpudiag", "attach", address, "--duration", f"{CAPTURE_S}s",
            "--log-dir", folder, "--format", "json", "--fail-on", "never",
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=CAPTURE_LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise UnreadableInput(f"{address}: no answer in {CAPTURE_LIMIT_S:.0f} s") from error
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise UnreadableInput(said[-1].removeprefix("tpudiag: "))
        return facts(folder)[1]


class ProfilerSource:
    """Samples of an address; each with steps is a window, without a tie to the one before."""

    def __init__(
        self,
        address: str,
        capture: Captured = captured,
        every_s: float = EVERY_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._address, self._capture, self._every_s, self._now = address, capture, every_s, now
        self._run: Run | None = None
        self._due, self._number, self._failures = 0.0, 0, 0
        self.given_up: str | None = None
        """Why there are no more samples."""

    def poll(self) -> Recording | None:
        """The sample that is due, if any; raises UnreadableInput where the first one fails."""
        windows: tuple[Window, ...] = ()
        if self._now() >= self._due and self.given_up is None:
            windows = self._sample()
        assert self._run is not None
        return Recording(self._run, windows, (), self._address)

    def _sample(self) -> tuple[Window, ...]:
        """One capture, as a window."""
        began = self._now()
        self._due = began + self._every_s
        try:
            steps = self._capture(self._address)
        except UnreadableInput as error:
            if self._run is None:
                raise
            self._failures += 1
            self.given_up = str(error) if self._failures >= GIVEN_UP_AFTER else None
            return ()
        self._failures = 0
        ended_ns = int(self._now() * NS)
        if self._run is None:
            start_ns = int(began * NS)
            self._run = Run("samples", self._address, self._address, PID, start_ns, ended_ns)
        if steps is None or not steps.step_ms:
            return ()
        return (self._window(steps, ended_ns),)

    def _window(self, steps: StepTimes, ended_ns: int) -> Window:
        """The steps of a capture, laid before its end."""
        self._number += 1
        total_ms = sum(steps.step_ms)
        waits = steps.input_wait_ms
        return Window(
            self._number, ended_ns - int(total_ms * 1e6), ended_ns, len(steps.step_ms),
            merged(((bucket(ms), 1),) for ms in steps.step_ms),
            None if waits is None else fmean(waits) * len(steps.step_ms),
        )  # fmt: skip
