"""Where the wall time of a job went since it began, over its runs and restarts.

Each worker has a ledger. Its parts add up to the time from the start of its first process to
the last that was heard of it: what is not accounted for by anything else is told as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from tpudiag.monitoring.recording import NS, Pause, Recording, Run, Window

MINUTE_NS = 60 * NS
START_UP_NS = 60 * MINUTE_NS
"""A process that is older when its run begins (a notebook) was not starting all the while."""
MOST_MINUTES = 3_000
"""Of one span (two days): a log that was left years ago would else take minutes at each look."""


class TimeUse(Enum):
    """What a part of the time was spent on. The value is the word in reports."""

    STEPS = "steps"
    INPUT = "waiting for input"
    START_UP = "start-up"
    COMPILE = "compile and retrace"
    EVALUATION = "evaluation"
    SAVE = "checkpoint save"
    RESTORE = "checkpoint restore"
    OTHER = "other pauses"
    REPEATED = "steps repeated after a restart"
    STALLED = "stalled, or a pause not announced"
    DOWN = "down"


PAUSES = {
    "evaluation": TimeUse.EVALUATION,
    "checkpoint": TimeUse.SAVE,
    "restore": TimeUse.RESTORE,
}
PRODUCTIVE = (TimeUse.STEPS,)
Spent = Mapping[TimeUse, float]
"""Seconds by what they were spent on."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """A ledger as it is now."""

    spent: Spent
    minutes: Mapping[int, Spent]
    """The same by minutes since the epoch."""
    restarts_unknown: bool = False
    """Whether a restart was seen, but no checkpoint: what was repeated is not known."""

    @property
    def total_s(self) -> float:
        """All of the time."""
        return sum(self.spent.values())

    @property
    def goodput(self) -> float | None:
        """The share of the time that went into steps that count; None without any."""
        total_s = self.total_s
        return sum(self.spent.get(use, 0.0) for use in PRODUCTIVE) / total_s if total_s else None


class Ledger:
    """Takes the recordings of one worker in their order."""

    def __init__(self) -> None:
        self._minutes: dict[int, dict[TimeUse, float]] = {}
        self._run: Run | None = None
        self._accounted_ns = 0
        self._painted: list[tuple[int, int]] = []
        self._known: set[tuple[int, str]] = set()
        self._unsaved: dict[int, dict[TimeUse, float]] = {}
        self._saves = 0
        self._to_judge = False
        self._unknown = False

    def take(self, recording: Recording, stalls_s: Mapping[int, float]) -> None:
        """What is new of a run; `stalls_s` is the stalled part of its windows, by number."""
        if self._run is None or self._run.id != recording.run.id:
            self._begin(recording.run)
        self._run = recording.run
        pauses = self._new_pauses(recording.pauses)
        saved = sorted(p.end_ns for p in pauses if PAUSES.get(p.kind) is TimeUse.SAVE)
        self._saves += len(saved)
        self._judge_restart()
        for window in recording.windows:
            since_ns = window.start_ns
            # A checkpoint inside the window saves its first part: only what comes after it is lost
            # if the job dies.
            while saved and saved[0] <= window.end_ns:
                since_ns = max(since_ns, saved.pop(0))
                self._unsaved = {}
            self._window(window, stalls_s.get(window.number, 0.0), since_ns)
        if saved:
            self._unsaved = {}

    def account(self, tail: TimeUse = TimeUse.STEPS, end_ns: int | None = None) -> Account:
        """All until `end_ns`, or the last that was heard; `tail` goes on since the last window."""
        minutes = {minute: dict(spent) for minute, spent in self._minutes.items()}
        if self._run is not None:
            end_ns = self._run.last_ns if end_ns is None else end_ns
            covered = sum(
                max(min(end, end_ns) - max(start, self._accounted_ns), 0)
                for start, end in self._painted
            )
            left_ns = max(end_ns - self._accounted_ns - covered, 0)
            _put(minutes, tail, self._accounted_ns, end_ns, left_ns / NS)
        spent: dict[TimeUse, float] = {}
        for one in minutes.values():
            for use, seconds in one.items():
                spent[use] = spent.get(use, 0.0) + seconds
        return Account(spent=spent, minutes=minutes, restarts_unknown=self._unknown)

    def _begin(self, run: Run) -> None:
        """Another run: of the same process, or of a restart."""
        before = self._run
        process_ns = run.process_started_ns or run.started_ns
        # A notebook's process is days old when training begins: that was no start-up.
        if run.started_ns - process_ns > START_UP_NS:
            process_ns = run.started_ns
        if before is None:
            self._span(TimeUse.START_UP, process_ns, run.started_ns)
        # The same process: fit was called again, and the time between is the script's own.
        elif before.pid == run.pid and run.pid > 0:
            self._close(before)
            self._span(TimeUse.OTHER, before.last_ns, run.started_ns)
        else:
            self._close(before)
            process_ns = min(max(process_ns, before.last_ns), run.started_ns)
            self._span(TimeUse.DOWN, before.last_ns, process_ns)
            self._span(TimeUse.START_UP, process_ns, run.started_ns)
            # A run that ended well lost nothing, whatever was not saved.
            self._to_judge = before.ended_ns is None or before.failure is not None
            if not self._to_judge:
                self._unsaved = {}
        self._accounted_ns = run.started_ns
        self._painted, self._known = [], set()

    def _close(self, run: Run) -> None:
        """The time of a run after its last window: nothing that was kept."""
        covered = sum(max(end - max(start, self._accounted_ns), 0) for start, end in self._painted)
        left_ns = max(run.last_ns - self._accounted_ns - covered, 0)
        # A run without an end was killed: what it stepped after its last window is in no recording
        # and in no checkpoint, and the restart makes it again.
        use = TimeUse.OTHER if run.ended_ns is not None else TimeUse.REPEATED
        _put(self._minutes, use, self._accounted_ns, run.last_ns, left_ns / NS)

    def _judge_restart(self) -> None:
        """What was stepped since the last checkpoint is done again, once the restart begins."""
        if not self._to_judge:
            return
        self._to_judge = False
        if not self._saves:
            self._unknown = True
        else:
            for minute, spent in self._unsaved.items():
                kept = self._minutes[minute]
                for use, seconds in spent.items():
                    kept[use] -= seconds
                    kept[TimeUse.REPEATED] = kept.get(TimeUse.REPEATED, 0.0) + seconds
        self._unsaved = {}

    def _new_pauses(self, pauses: Iterable[Pause]) -> list[Pause]:
        """Take in the pauses that are new; of nested ones, the inner first."""
        new = [p for p in pauses if (p.start_ns, p.kind) not in self._known]
        # An evaluation that keeps a checkpoint holds a pause inside a pause: each second counts
        # once, as the inner.
        for pause in sorted(new, key=lambda one: (one.end_ns, -one.start_ns)):
            self._known.add((pause.start_ns, pause.kind))
            inner = [one for one in self._painted if one[1] > pause.start_ns]
            covered = sum(
                min(end, pause.end_ns) - max(start, pause.start_ns) for start, end in inner
            )
            left_ns = max(pause.end_ns - pause.start_ns - covered, 0)
            use = PAUSES.get(pause.kind, TimeUse.OTHER)
            _put(self._minutes, use, pause.start_ns, pause.end_ns, left_ns / NS)
            outer = [one for one in self._painted if one not in inner]
            start = min([pause.start_ns, *(one[0] for one in inner)])
            # Pauses come in the order of their ends, so only the last few can lie within one that
            # is still to come.
            self._painted = [*outer, (start, pause.end_ns)][-10:]
        return new

    def _window(self, window: Window, stalled_s: float, since_ns: int) -> None:
        """The steps of a window, what they waited and were traced for, and its stall.

        What lies after `since_ns` is in no checkpoint yet.
        """
        active_s = max((window.end_ns - window.start_ns) / NS - window.pause_ms / 1e3, 0.0)
        stalled_s = min(stalled_s, active_s)
        # Each part from what the ones before it left: the figures come from several clocks and may
        # add up to more than the window.
        compile_s = min(window.compile_ms / 1e3, active_s - stalled_s)
        wait_s = min((window.wait_ms or 0.0) / 1e3, active_s - stalled_s - compile_s)
        parts = {
            TimeUse.STALLED: stalled_s,
            TimeUse.COMPILE: compile_s,
            TimeUse.INPUT: wait_s,
            TimeUse.STEPS: active_s - stalled_s - compile_s - wait_s,
        }
        after_s = (window.end_ns - since_ns) / NS
        unsaved = 1.0 if since_ns == window.start_ns else min(after_s / max(active_s, 1e-9), 1.0)
        for use, seconds in parts.items():
            _put(self._minutes, use, window.start_ns, window.end_ns, seconds)
            if use in (TimeUse.INPUT, TimeUse.STEPS):
                _put(self._unsaved, use, window.start_ns, window.end_ns, unsaved * seconds)
        self._accounted_ns = max(self._accounted_ns, window.end_ns)

    def _span(self, use: TimeUse, start_ns: int, end_ns: int) -> None:
        """All of a time."""
        _put(self._minutes, use, start_ns, end_ns, max(end_ns - start_ns, 0) / NS)


def together(accounts: Iterable[Account]) -> Account:
    """The accounts of several workers as one: their times added up."""
    spent: dict[TimeUse, float] = {}
    minutes: dict[int, dict[TimeUse, float]] = {}
    unknown = False
    for account in accounts:
        unknown = unknown or account.restarts_unknown
        for use, seconds in account.spent.items():
            spent[use] = spent.get(use, 0.0) + seconds
        for minute, parts in account.minutes.items():
            kept = minutes.setdefault(minute, {})
            for use, seconds in parts.items():
                kept[use] = kept.get(use, 0.0) + seconds
    return Account(spent=spent, minutes=minutes, restarts_unknown=unknown)


def _put(
    minutes: dict[int, dict[TimeUse, float]],
    use: TimeUse,
    start_ns: int,
    end_ns: int,
    seconds: float,
) -> None:
    """Add seconds to the minutes between two times, in proportion."""
    if seconds <= 0:
        return
    # A clock that was wrong by years would make a ledger of millions of minutes.
    start_ns = max(start_ns, end_ns - MOST_MINUTES * MINUTE_NS)
    length = max(end_ns - start_ns, 1)
    for minute in range(start_ns // MINUTE_NS, max(end_ns - 1, start_ns) // MINUTE_NS + 1):
        overlap = min(end_ns, (minute + 1) * MINUTE_NS) - max(start_ns, minute * MINUTE_NS)
        share = overlap / length if end_ns > start_ns else 1.0
        spent = minutes.setdefault(minute, {})
        spent[use] = spent.get(use, 0.0) + seconds * share
