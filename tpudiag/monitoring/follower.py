"""Follows a recording: detector, pauses, figures of the last minutes, and signals for checks."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from tpudiag.errors import UnreadableInput
from tpudiag.monitoring import store
from tpudiag.monitoring.detector import Drop, DropDetector, Pauses
from tpudiag.monitoring.profiler_source import ADDRESS, PID, ProfilerSource
from tpudiag.monitoring.recording import NS, Pause, Recording, Run, Window, merged, percentile
from tpudiag.monitoring.tensorboard import MARK, SINK_FLUSH_S, EventFiles
from tpudiag.signals import Origin, Signals, StepTimes, Throughput, ThroughputDrop

RECENT_S = 300.0
GONE_S, SILENT_WRITER_S = 10.0, 60.0
FORGOTTEN_S = 86_400.0
SPARK_WINDOWS = 3_600


class Source(Protocol):
    """Where windows come from; each poll gives what is new, None before there is a run."""

    def poll(self) -> Recording | None:
        """The run as it is now, with its new windows; raises UnreadableInput."""
        ...


class StoreSource:
    """Follows the newest run of a SQLite recording."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._run: str | None = None
        self._last = -1

    def poll(self) -> Recording | None:
        """What was recorded since the last poll; of the next run where this one has ended."""
        found = store.read(self._path, self._run, self._last)
        if self._run is not None and found.run.ended_ns is not None and not found.windows:
            newest = store.read(self._path)
            if newest.run.started_ns > found.run.started_ns:
                found, self._last = newest, -1
        self._run = found.run.id
        if found.windows:
            self._last = found.windows[-1].number
        return found


def source(path: str) -> Source | None:
    """What there is to follow at a path: a recording, or event files; None where nothing is yet.

    Raises UnreadableInput for a file that is neither.
    """
    local = Path(path)
    if ADDRESS.fullmatch(path) and not local.exists():
        return ProfilerSource(path)
    if local.is_file():
        if store.is_store(local):
            return StoreSource(local)
        if local.stat().st_size == 0:
            return None
        if MARK not in local.name:
            raise UnreadableInput(
                f"{path}: neither a recording of tpudiag nor a TensorBoard event file"
            )
        return EventFiles(path)
    if local.is_dir():
        stores = sorted(
            (file for file in local.glob("*.sqlite") if store.is_store(file)),
            key=lambda file: file.stat().st_mtime,
        )
        if stores:
            return StoreSource(stores[-1])
    elif "://" not in path:
        return None
    events = EventFiles(path)
    return events if events.found else None


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a watched run does now, over its last five minutes; None where it is not known."""

    run: Run
    unit: str
    steps: int
    per_s: float | None
    steps_per_s: float | None
    baseline_per_s: float | None
    step_ms: tuple[float | None, float | None, float | None]
    """The median, the 90th and the 99th percentile."""
    input_share: float | None
    hbm_bytes: int | None
    silent_s: float | None
    normal_pause_s: float
    pause_s: float
    """Time in announced pauses since the run began."""


class Watched:
    """A run as it is being followed; `now` gives the time in ns since the epoch."""

    def __init__(self, source: Source, now: Callable[[], int] = time.time_ns) -> None:
        self._source, self._now = source, now
        self.recording: Recording | None = None
        self._begin()

    def _begin(self) -> None:
        """Know nothing of a run."""
        self.detector, self.pauses = DropDetector(), Pauses()
        self.recent: deque[Window] = deque()
        self.rates: deque[float] = deque(maxlen=SPARK_WINDOWS)
        self.steps = 0
        self.moved = False
        """Whether steps came after the first look."""

    def poll(self) -> bool:
        """Take in what is new; whether there is a run. Raises UnreadableInput."""
        found = self._source.poll()
        if found is None:
            return False
        known = self.recording is not None and self.recording.run.id == found.run.id
        if not known:
            self._begin()
        self.moved = self.moved or (known and bool(found.windows))
        self.recording = found
        for window in found.windows:
            self._add(window)
        return True

    def _add(self, window: Window) -> None:
        """One more window."""
        self.steps += window.steps
        units = window.steps if window.examples is None else window.examples
        self.detector.add(window.end_ns, window.active_s, units)
        self.pauses.add(window)
        self.rates.append(units / window.active_s)
        self.recent.append(window)
        while self.recent[0].end_ns < window.end_ns - RECENT_S * NS:
            self.recent.popleft()

    @property
    def run(self) -> Run:
        """The run; there is one after the first poll that found it."""
        assert self.recording is not None
        return self.recording.run

    @property
    def unit(self) -> str:
        """What is counted a second."""
        return "examples" if self.recent and self.recent[-1].examples else self.run.unit

    @property
    def by_events(self) -> bool:
        """Whether it is known from event files only, which do not say that a job ended."""
        return not self.run.pid

    def silent_s(self) -> float | None:
        """Time since the last step, or since the start; None where the run has ended."""
        if self.run.ended_ns is not None:
            return None
        last_ns = self.recent[-1].end_ns if self.recent else self.run.started_ns
        return max((self._now() - last_ns) / NS, 0.0)

    def normal_pause_s(self) -> float:
        """The longest pause that is normal, in the announced pause that the run is in, or else."""
        if self.run.pausing is not None:
            return self.pauses.announced_s
        return max(self.pauses.normal_s, SINK_FLUSH_S if self.by_events else 0.0)

    def figures(self) -> Figures:
        """What the run does now."""
        steps = merged(window.step_ms for window in self.recent)
        active_s = sum(window.active_s for window in self.recent)
        waits = [w.wait_ms for w in self.recent if w.wait_ms is not None]
        used = [w.hbm_bytes for w in self.recent if w.hbm_bytes is not None]
        silent_s = self.silent_s()
        hangs = silent_s is not None and silent_s > 3 * self.normal_pause_s()
        steps_per_s = sum(w.steps for w in self.recent) / active_s if active_s else None
        return Figures(
            run=self.run,
            unit=self.unit,
            steps=self.steps,
            per_s=0.0 if hangs and self.steps else self.detector.per_s,
            steps_per_s=0.0 if hangs and self.steps else steps_per_s,
            baseline_per_s=self.detector.baseline_per_s,
            step_ms=(percentile(steps, 0.5), percentile(steps, 0.9), percentile(steps, 0.99)),
            input_share=sum(waits) / 1e3 / active_s if waits and active_s else None,
            hbm_bytes=max(used, default=None),
            silent_s=silent_s,
            normal_pause_s=self.normal_pause_s(),
            pause_s=_paused_s(self.recording),
        )

    def signals(self) -> Signals:
        """What the checks get to see."""
        assert self.recording is not None
        run, name = self.run, self.recording.source
        unsure = self.by_events and not self.moved
        silent_s = self.silent_s()
        forgotten = unsure and silent_s is not None and silent_s > FORGOTTEN_S
        return Signals(
            origin=Origin.RECORDING,
            steps=self._step_times(name),
            throughput=Throughput(
                unit=self.unit,
                steps=self.steps,
                source=name,
                per_s=self.detector.per_s,
                baseline_per_s=self.detector.baseline_per_s,
                drops=tuple(_said(drop) for drop in self.detector.drops),
                silent_s=silent_s,
                normal_pause_s=self.normal_pause_s(),
                pausing=run.pausing,
                gone=self.gone,
                unsure=self._unsure(forgotten),
            ),
        )

    def _unsure(self, forgotten: bool) -> str | None:
        """Why silence may be the end of the job, None where it is not."""
        if self.run.pid == PID and self.gone is not None:
            return "a job that ended answers no more either"
        return "event files do not say whether a job ended" if forgotten else None

    def _step_times(self, name: str) -> StepTimes | None:
        """The mean step of each recent window, where the wait for input was measured."""
        windows = [w for w in self.recent if w.wait_ms is not None]
        if not windows:
            return None
        return StepTimes(
            step_ms=tuple(1e3 * w.active_s / w.steps for w in windows),
            input_wait_ms=tuple((w.wait_ms or 0.0) / w.steps for w in windows),
            source=name,
            input_wait_source="the loop's own clock",
        )

    def done(self, idle_s: float) -> bool:
        """Whether nothing more is to come: it crashed, is gone, or ended and stays so.

        A run that ended may be followed by another of the same job (an epoch, a second `fit`), as
        long as its process lives, and for `idle_s` after its end.
        """
        run = self.run
        if self.gone is not None:
            return True
        if run.ended_ns is None:
            return False
        here = run.host == os.uname().nodename and run.pid > 0
        if here and not Path("/proc", str(run.pid)).exists():
            return True
        return (self._now() - run.ended_ns) / NS > idle_s

    @property
    def gone(self) -> str | None:
        """Why the run cannot go on, None where it may, or has ended."""
        run = self.run
        if run.failure is not None:
            return f"the job ended by {run.failure}"
        if run.ended_ns is not None or self.by_events:
            return None
        if isinstance(self._source, ProfilerSource):
            return self._source.given_up
        quiet_s = (self._now() - run.beat_ns) / NS
        here = run.host == os.uname().nodename
        if quiet_s > GONE_S and here and not Path("/proc", str(run.pid)).exists():
            return f"the job's process {run.pid} is gone"
        if quiet_s > SILENT_WRITER_S:
            return (
                f"the job's process {run.pid} on {run.host} is gone, or cannot write its "
                f"recording: it last wrote {quiet_s:,.0f} s ago"
            )
        return None


def _said(drop: Drop) -> ThroughputDrop:
    """A drop as the checks see it."""
    return ThroughputDrop(
        utc(drop.since_ns), drop.baseline_per_s, drop.per_s,
        None if drop.ended_ns is None else utc(drop.ended_ns),
    )  # fmt: skip


def _paused_s(recording: Recording | None) -> float:
    """Time in announced pauses."""
    pauses: tuple[Pause, ...] = recording.pauses if recording else ()
    return sum(pause.end_ns - pause.start_ns for pause in pauses) / NS


def utc(at_ns: int) -> str:
    """A time as RFC 3339."""
    return datetime.fromtimestamp(at_ns // NS, UTC).isoformat()
