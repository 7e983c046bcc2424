"""Where what is watched comes from: recordings in files and folders, event files, profilers."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tpudiag.errors import UnreadableInput
from tpudiag.monitoring import machine, reader
from tpudiag.monitoring.lanes import Lane, StoredRun, judged, lanes
from tpudiag.monitoring.profiler_source import ADDRESS, ProfilerSource
from tpudiag.monitoring.recording import NS, Recording, Run
from tpudiag.monitoring.tensorboard import MARK, EventFiles
from tpudiag.whole import whole

HEARD_S = 10.0
MOST_WINDOWS, LEAST_WINDOWS = 40_000, 200
"""What the first look takes in second by second: of all jobs together, and of each; the rest is
taken by the minute."""
EARLIER_RUNS = 50
EARLIER_WINDOWS = 200_000
"""The newest of what was recorded before is read: for the baseline, and for lost time."""


class Source(Protocol):
    """Where windows come from."""

    def poll(self) -> Sequence[Recording]:
        """What is new, run by run in their order; raises UnreadableInput."""
        ...


class StoreSource:
    """Follows the runs of one worker through their files."""

    def __init__(self, lane: Lane, at_once: int) -> None:
        self.lane, self._at_once = lane, at_once
        self._at = _first(lane)
        self._last = -1

    def follow(self, lane: Lane) -> None:
        """The worker's runs as they are now: it goes on where it was."""
        id_ = self.lane[self._at].run.id
        places = [index for index, one in enumerate(lane) if one.run.id == id_]
        if not places:
            self._last = -1
        self.lane, self._at = lane, places[0] if places else len(lane) - 1

    def poll(self) -> Sequence[Recording]:
        """What was recorded since the last poll, up to the newest run."""
        recordings: list[Recording] = []
        while True:
            at = self.lane[self._at]
            seen = reader.read(at.path, at.run.id, self._last, self._at_once)
            if seen.windows:
                self._last = seen.windows[-1].number
            recordings.append(seen)
            if self._at == len(self.lane) - 1:
                return recordings
            self._at, self._last = self._at + 1, -1


class Single:
    """A source of one run at a time, such as event files."""

    def __init__(self, source: EventFiles | ProfilerSource) -> None:
        self.source = source

    def poll(self) -> Sequence[Recording]:
        """The run with its new windows, if there is one."""
        seen = self.source.poll()
        return [] if seen is None else [seen]


class Place:
    """One SOURCE of the command line: gives the sources in it, which may come to be more."""

    def __init__(self, path: str, among: int = 1) -> None:
        self.path, self._among = path, among
        self.not_judged = 0
        """Runs of earlier jobs that lie there."""
        self._single: Single | None = None
        self._workers: list[StoreSource] = []

    def sources(self) -> Sequence[Source]:
        """Those that there are now; raises UnreadableInput for a file that is none."""
        if self._single is None and not self._workers:
            self._single = _single(self.path)
        if self._single is not None:
            return [self._single]
        stores = _stores(Path(self.path))
        runs = [run for path in stores for run in _runs(path)]
        every = lanes(runs, lives)
        self._follow(judged(every))
        self.not_judged = len(every) - len(self._workers)
        return self._workers

    def _follow(self, recorded: list[Lane]) -> None:
        """Go on with the workers that are known, and begin with those that are new."""
        known = {source.lane[0].run.id: source for source in self._workers}
        now: list[StoreSource] = []
        for lane in recorded:
            source = known.get(lane[0].run.id)
            if source is None:
                share = MOST_WINDOWS // (self._among * len(recorded))
                source = StoreSource(lane, max(min(share, reader.AT_ONCE), LEAST_WINDOWS))
            else:
                source.follow(lane)
            now.append(source)
        self._workers = sorted(now, key=lambda source: _order(source.lane[-1].run))


def lives(run: Run) -> bool:
    """Whether the process of a run is there, as far as this machine can say."""
    # Containers of one host may share its name and not its processes: a pid means something only
    # within the same namespace.
    if run.host == os.uname().nodename and run.machine == machine.machine():
        return machine.alive(run.pid)
    return time.time_ns() - run.last_ns < HEARD_S * NS


def _first(lane: Lane) -> int:
    """Where to begin: with the earlier runs that still count."""
    first, windows = len(lane) - 1, 0
    for index in range(len(lane) - 1, max(len(lane) - EARLIER_RUNS, 0) - 1, -1):
        run = lane[index].run
        # As if each had a window a second, which is the most there can be: counting them would open
        # every file of a month's restarts.
        windows += max((run.last_ns - run.started_ns) // NS, 1)
        if windows > EARLIER_WINDOWS and index < len(lane) - 1:
            break
        first = index
    return first


def _single(path: str) -> Single | None:
    """A profiler service or event files at a path; None for recordings, and where nothing is."""
    local = Path(path)
    # A folder may be called like an address (`run:1`): what is there comes first.
    if ADDRESS.fullmatch(path) and not local.exists():
        return Single(ProfilerSource(path))
    if local.is_file():
        # SQLite makes the file empty and writes its header with the first transaction: a job has
        # just begun.
        if reader.is_store(local) or local.stat().st_size == 0:
            return None
        if MARK not in local.name:
            raise UnreadableInput(
                f"{path}: neither a recording of tpudiag nor a TensorBoard event file"
            )
        return Single(EventFiles(path))
    if (local.is_dir() and _stores(local)) or (not local.is_dir() and "://" not in path):
        return None
    events = EventFiles(path)
    return Single(events) if events.found else None


def _stores(path: Path) -> list[Path]:
    """The recordings at a path."""
    if path.is_dir():
        return sorted(file for file in path.glob("*.sqlite") if reader.is_store(file))
    return [path] if reader.is_store(path) else []


def _runs(path: Path) -> list[StoredRun]:
    """The runs of a file; none where it is just being made."""
    try:
        return [StoredRun(path, run) for run in reader.runs(path)]
    except reader.NotYetRecorded:
        return []


def _order(run: Run) -> tuple[str, int, str, int]:
    """Workers by their number, then by host."""
    # By number, or worker 10 would stand before worker 2.
    number = whole(run.worker.rpartition(" ")[2])
    return run.name, -1 if number is None else number, run.host, run.pid
