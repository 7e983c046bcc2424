"""One `tpudiag watch`: looks at the source, examines, raises alerts, and reports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol

from tpudiag.catalogue import checks
from tpudiag.engine import examine
from tpudiag.model import Measurement, Outcome, Report, Severity, Subject, Verdict
from tpudiag.monitoring.follower import Figures, Source, Watched, source
from tpudiag.monitoring.recording import NS, said_rate
from tpudiag.settings import Settings

HOOK_S = 60.0
AT_ONCE_HOOKS = 8


class Outlet(Protocol):
    """Where figures go besides the view and the report."""

    def show(self, figures: Figures, alerts: Mapping[str, bool]) -> None:
        """The figures as they are now, and whether each check fails."""
        ...

    def close(self) -> str:
        """The end; what the report shall say of it, or nothing."""
        ...


class Session:
    """A source being watched; alerts are raised once, until what they say is over."""

    def __init__(
        self,
        path: str,
        settings: Settings,
        on_alert: str | None = None,
        outlets: Sequence[Outlet] = (),
    ) -> None:
        self._outlets = list(outlets)
        self._notes: list[str] = []
        self._path, self._settings, self._on_alert = path, settings, on_alert
        self._watched: Watched | None = None
        self._source: Source | None = None
        self._raised: set[str] = set()
        self._hooks: list[subprocess.Popen[bytes]] = []
        self.outcomes: tuple[Outcome, ...] = ()
        self.alerts: list[str] = []
        self._started = datetime.now(UTC).isoformat(timespec="seconds")

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for the hooks; those that take too long are ended."""
        self.close_outlets()
        for hook in self._hooks:
            try:
                hook.wait(HOOK_S)
            except subprocess.TimeoutExpired:
                hook.kill()
                print(f"tpudiag: --on-alert: ended after {HOOK_S:.0f} s", file=sys.stderr)
        self._reap()

    def look(self) -> bool:
        """Look once more; whether there is a run to be seen. Raises UnreadableInput."""
        if self._source is None:
            self._source = source(self._path)
            if self._source is None:
                return False
            self._watched = Watched(self._source)
        assert self._watched is not None
        if not self._watched.poll():
            return False
        self.outcomes = examine(self._watched.signals(), checks(), self._settings)
        self._reap()
        for outcome in self.outcomes:
            self._judge(outcome)
        figures, failing = self._watched.figures(), self._failing()
        for outlet in self._outlets:
            outlet.show(figures, failing)
        return True

    def close_outlets(self) -> None:
        """Let them end; what they say goes into the report."""
        while self._outlets:
            self._notes += filter(None, [self._outlets.pop().close()])

    def _failing(self) -> dict[str, bool]:
        """Whether each check fails; those that were skipped are left out."""
        judged = (Verdict.PASSED, Verdict.FAILED)
        return {o.id: o.verdict is Verdict.FAILED for o in self.outcomes if o.verdict in judged}

    @property
    def seen(self) -> bool:
        """Whether there was a run."""
        return self._watched is not None and self._watched.recording is not None

    def done(self, idle_s: float) -> bool:
        """Whether the job is done, or its process is gone."""
        return self.watched.done(idle_s)

    @property
    def watched(self) -> Watched:
        """The run; after a look that saw one."""
        assert self._watched is not None
        return self._watched

    def report(self) -> Report:
        """What was seen, as a report."""
        self.close_outlets()
        figures = self.watched.figures()
        lost = [f"{figures.run.lost_steps} steps could not be recorded."]
        return Report(
            subject=Subject("trainer", f"{figures.run.name} ({self._path})"),
            target=None,
            started=self._started,
            outcomes=self.outcomes,
            measurements=measurements(figures, self._path),
            headline=headline(figures),
            notes=(*(lost if figures.run.lost_steps else ()), *self._notes),
        )

    def _judge(self, outcome: Outcome) -> None:
        """Raise an alert for what has begun to fail."""
        if outcome.verdict is not Verdict.FAILED or outcome.severity < Severity.WARNING:
            if outcome.id in self._raised:
                self.alerts.append(f"{outcome.id} {outcome.name}: over")
            self._raised.discard(outcome.id)
            return
        if outcome.id in self._raised:
            return
        self._raised.add(outcome.id)
        message = outcome.findings[0].message
        self.alerts.append(f"{outcome.id} {outcome.name}: {message}")
        if self._on_alert is not None and len(self._hooks) < AT_ONCE_HOOKS:
            surroundings = {
                **os.environ,
                "TPUDIAG_ALERT": outcome.id,
                "TPUDIAG_MESSAGE": message,
                "TPUDIAG_SOURCE": self._path,
            }
            self._hooks.append(
                subprocess.Popen(
                    self._on_alert, shell=True, env=surroundings, stdin=subprocess.DEVNULL,
                    stdout=sys.stderr.fileno(),
                )
            )  # fmt: skip

    def _reap(self) -> None:
        """Say which hooks failed; forget those that have ended."""
        for hook in [hook for hook in self._hooks if hook.poll() is not None]:
            self._hooks.remove(hook)
            if hook.returncode:
                print(f"tpudiag: --on-alert: exit code {hook.returncode}", file=sys.stderr)


def headline(figures: Figures) -> str:
    """The first line: how fast, against what."""
    if figures.per_s is None:
        return f"{figures.run.name}: no step yet."
    rate = f"{figures.run.name}: {said_rate(figures.per_s)} {figures.unit}/s"
    ended = "; the run has ended" if figures.run.ended_ns is not None else ""
    if figures.run.failure is not None:
        ended = f"; it ended by {figures.run.failure}"
    if figures.baseline_per_s is None:
        return f"{rate}; its baseline is not known yet{ended}."
    change = figures.per_s / figures.baseline_per_s - 1
    return f"{rate}, {change:+.0%} against its baseline{ended}."


def measurements(figures: Figures, source: str) -> dict[str, Measurement]:
    """The figures of the report."""
    recent = f"{source}, its last 5 minutes"
    found: dict[str, tuple[float | None, str, str]] = {
        f"{figures.unit}_per_second": (figures.per_s, f"{figures.unit}/s", f"{source}, now"),
        "baseline_per_second": (figures.baseline_per_s, f"{figures.unit}/s", source),
        "step_time_ms": (figures.step_ms[0], "ms", recent),
        "step_time_p90_ms": (figures.step_ms[1], "ms", recent),
        "step_time_p99_ms": (figures.step_ms[2], "ms", recent),
        "input_wait_share": (
            None if figures.input_share is None else 100 * figures.input_share, "%", recent,
        ),
        "hbm_in_use_bytes": (figures.hbm_bytes, "bytes", recent),
        "announced_pauses_s": (figures.pause_s or None, "s", source),
        "steps": (figures.steps, figures.run.unit, source),
        "recorded_s": (
            (figures.run.beat_ns - figures.run.started_ns) / NS, "s", source,
        ),
    }  # fmt: skip
    return {
        name: Measurement(value if isinstance(value, int) else round(value, 3), unit, where)
        for name, (value, unit, where) in found.items()
        if value is not None
    }
