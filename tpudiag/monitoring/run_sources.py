"""The sources of watched runs: recordings in files and folders, event files, profilers."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tpudiag.bounded_numbers import whole
from tpudiag.errors import UnreadableInput
from tpudiag.monitoring import machine, reader
from tpudiag.monitoring.event_files import MARK, EventFiles
from tpudiag.monitoring.profiler_source import ADDRESS, ProfilerSource
from tpudiag.monitoring.recording import NS, Recording, Run

SAME_JOB_S = 3_600.0
"""A run that begins so long after the last one of its worker goes on with the job."""


@dataclass(frozen=True)
class StoredRun:
    """A run, and the file that it is in."""

    path: Path
    run: Run


Lane = tuple[StoredRun, ...]
"""The runs of one worker, one after the other: epochs, a second `fit`, restarts."""


def lanes(runs: Iterable[StoredRun], lives: Callable[[Run], bool]) -> list[Lane]:
    """The runs by worker; `lives` says whether a run that did not end may go on."""
    chains: list[list[StoredRun]] = []
    for one in sorted(runs, key=lambda each: (each.run.started_ns, each.run.id)):
        free = [lane for lane in chains if _goes_on(lane[-1].run, one.run, lives)]
        if free:
            max(free, key=lambda lane: _likeness(lane[-1], one)).append(one)
        else:
            chains.append([one])
    return [tuple(lane) for lane in chains]


def judged(recorded: Sequence[Lane]) -> list[Lane]:
    """The workers of the newest job: those heard of since its worker heard last of began it."""
    if not recorded:
        return []
    # By id, too: of two that began together each look is to choose the same one.
    newest = max(recorded, key=lambda lane: (lane[-1].run.started_ns, lane[-1].run.id))
    began_ns = session(newest)[0].run.started_ns
    return [lane for lane in recorded if lane is newest or lane[-1].run.last_ns >= began_ns]


def session(lane: Lane) -> Lane:
    """The last runs of a worker without a long time between them: the job of today."""
    first = len(lane) - 1
    while first > 0 and (
        lane[first].run.started_ns - lane[first - 1].run.last_ns <= SAME_JOB_S * NS
        and lane[first].run.name == lane[first - 1].run.name
    ):
        first -= 1
    return lane[first:]


def _goes_on(before: Run, after: Run, lives: Callable[[Run], bool]) -> bool:
    """Whether a run may follow another in the same worker."""
    if before.name != after.name or before.worker != after.worker:
        return False
    # Two that ran at the same time are two workers, whatever they are called.
    if before.last_ns > after.started_ns:
        return False
    # A kill writes no end: what is not heard of any more may go on in a restart, what still lives
    # may not. The same process calls fit again without having ended.
    return before.ended_ns is not None or before.pid == after.pid or not lives(before)


def _likeness(before: StoredRun, after: StoredRun) -> tuple[bool, bool, bool, int]:
    """The same process, host and file count most, then who was heard of last."""
    return (
        before.run.pid == after.run.pid and before.run.host == after.run.host,
        before.run.host == after.run.host,
        before.path == after.path,
        before.run.last_ns,
    )


HEARD_S = 10.0
MOST_WINDOWS, LEAST_WINDOWS = 40_000, 200
"""What the first poll reads second by second: of all jobs together, and of each; the rest by
minutes."""
EARLIER_RUNS = 50
EARLIER_WINDOWS = 200_000
"""The newest earlier windows that are read, for the baseline and for lost time."""


class StoreSource:
    """Follows the runs of one worker through their files."""

    def __init__(self, lane: Lane, at_once: int) -> None:
        self.lane, self._at_once = lane, at_once
        self._at = _first(lane)
        self._last = -1

    def follow(self, lane: Lane) -> None:
        """Set the worker's current runs, keeping the position."""
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


Source = StoreSource | EventFiles | ProfilerSource
"""A source of windows."""


class Place:
    """One SOURCE of the command line; the number of its sources may grow."""

    def __init__(self, path: str, among: int = 1) -> None:
        self.path, self._among = path, among
        self.not_judged = 0
        """Runs of earlier jobs in the same place."""
        self._single: Source | None = None
        self._workers: list[StoreSource] = []

    def sources(self) -> Sequence[Source]:
        """The current sources; raises UnreadableInput for a file that is none."""
        if self._single is None and not self._workers:
            self._single = _single(self.path)
        if self._single is not None:
            return [self._single]
        stores = _stores(Path(self.path))
        runs: list[StoredRun] = []
        for path in stores:
            with suppress(reader.NotYetRecorded):
                runs += [StoredRun(path, run) for run in reader.runs(path)]
        every = lanes(runs, lives)
        self._follow(judged(every))
        self.not_judged = len(every) - len(self._workers)
        return self._workers

    def _follow(self, recorded: list[Lane]) -> None:
        """Continue with known workers, and begin with new ones."""
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
    """Whether a run's process exists, as far as this machine can see."""
    # Containers of one host may share its name but not its processes: a pid is meaningful only
    # within the same namespace.
    if run.host == os.uname().nodename and run.machine == machine.machine():
        return machine.alive(run.pid)
    return time.time_ns() - run.last_ns < HEARD_S * NS


def _first(lane: Lane) -> int:
    """The first of the earlier runs that still count."""
    first, windows = len(lane) - 1, 0
    for index in range(len(lane) - 1, max(len(lane) - EARLIER_RUNS, 0) - 1, -1):
        run = lane[index].run
        # Assume a window per second, the maximum: counting would open every file of a month's
        # restarts.
        windows += max((run.last_ns - run.started_ns) // NS, 1)
        if windows > EARLIER_WINDOWS and index < len(lane) - 1:
            break
        first = index
    return first


def _single(path: str) -> Source | None:
    """A profiler service or event files at a path; None for recordings, and for nothing."""
    local = Path(path)
    # A folder may be named like an address (`run:1`): existing paths come first.
    if ADDRESS.fullmatch(path) and not local.exists():
        return ProfilerSource(path)
    if local.is_file():
        # SQLite creates the file empty and writes its header with the first transaction.
        if reader.is_store(local) or local.stat().st_size == 0:
            return None
        if MARK not in local.name:
            raise UnreadableInput(
                f"{path}: neither a recording of tpudiag nor a TensorBoard event file"
            )
        return EventFiles(path)
    if (local.is_dir() and _stores(local)) or (not local.is_dir() and "://" not in path):
        return None
    events = EventFiles(path)
    return events if events.found else None


def _stores(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.glob("*.sqlite") if reader.is_store(file))
    return [path] if reader.is_store(path) else []


def _order(run: Run) -> tuple[str, int, str, int]:
    """Workers by their number, then by host."""
    # By number, or worker 10 would come before worker 2.
    number = whole(run.worker.rpartition(" ")[2])
    return run.name, -1 if number is None else number, run.host, run.pid
