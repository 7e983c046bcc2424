"""Where the wall time of a job went since it began, over its runs and restarts.

Each worker has a ledger. Its parts add up to the time from the start of its first process to its
last news: time without any other explanation is listed as such.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from tpudiag.monitoring.recording import NS, Recording, Run, Window

MINUTE_NS = 60 * NS
START_UP_NS = 60 * MINUTE_NS
"""A process older than this when its run begins (a notebook) was not starting all the time."""
MOST_MINUTES = 14 * 1_440
"""The timeline covers so many minutes; the sums cover everything."""


class TimeUse(Enum):
    """A use of time. The value is the word in reports."""

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
    UNRECORDED = "not recorded"


PAUSES = {
    "evaluation": TimeUse.EVALUATION,
    "checkpoint": TimeUse.SAVE,
    "restore": TimeUse.RESTORE,
}
PRODUCTIVE = (TimeUse.STEPS,)
Spent = Mapping[TimeUse, float]
"""Seconds by use."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """A ledger's present state."""

    spent: Spent
    minutes: Mapping[int, Spent]
    """The same by minutes since the epoch, of the last two weeks."""
    restarts_unknown: bool = False
    """Whether there was a restart but no checkpoint: what was repeated is not known."""

    @property
    def total_s(self) -> float:
        """The whole time."""
        return sum(self.spent.values())

    @property
    def goodput(self) -> float | None:
        """The share of the time spent on steps that count; None without any time."""
        return goodput(self.spent)


def goodput(spent: Spent) -> float | None:
    """The share of a time that went into steps that count; None without any."""
    total_s = sum(spent.values())
    return sum(spent.get(use, 0.0) for use in PRODUCTIVE) / total_s if total_s else None


class _Book:
    def __init__(self) -> None:
        self.spent: defaultdict[TimeUse, float] = defaultdict(float)
        self.minutes: defaultdict[int, defaultdict[TimeUse, float]] = defaultdict(
            lambda: defaultdict(float)
        )

    def add(self, spent: Spent, minutes: Mapping[int, Spent]) -> None:
        """Add what another has."""
        for use, seconds in spent.items():
            self.spent[use] += seconds
        for minute, uses in minutes.items():
            for use, seconds in uses.items():
                self.minutes[minute][use] += seconds

    def put(self, use: TimeUse, start_ns: int, end_ns: int, seconds: float) -> None:
        """Add seconds between two times: to the sum, and to the minutes in proportion."""
        if seconds <= 0:
            return
        self.spent[use] += seconds
        last = max(end_ns - 1, start_ns) // MINUTE_NS
        length = max(end_ns - start_ns, 1)
        for minute in range(max(start_ns // MINUTE_NS, last - MOST_MINUTES), last + 1):
            overlap = min(end_ns, (minute + 1) * MINUTE_NS) - max(start_ns, minute * MINUTE_NS)
            share = overlap / length if end_ns > start_ns else 1.0
            self.minutes[minute][use] += seconds * share
        if len(self.minutes) > MOST_MINUTES + 60:
            for minute in sorted(self.minutes)[:-MOST_MINUTES]:
                del self.minutes[minute]

    def turn(self, others: _Book, use: TimeUse) -> None:
        """Move another book's seconds to another use."""
        for old, seconds in others.spent.items():
            self.spent[old] -= seconds
            self.spent[use] += seconds
        for minute in others.minutes.keys() & self.minutes.keys():
            kept = self.minutes[minute]
            for old, seconds in others.minutes[minute].items():
                if old in kept:
                    kept[old] -= seconds
                    kept[use] += seconds


class Ledger:
    """Takes the recordings of one worker in their order."""

    def __init__(self) -> None:
        self._book, self._unsaved = _Book(), _Book()
        self._run: Run | None = None
        self._accounted_ns = 0
        self._saves = 0
        self._to_judge = self._unknown = False

    def take(self, recording: Recording) -> None:
        """Take what is new of a run."""
        if self._run is None or self._run.id != recording.run.id:
            self._begin(recording.run)
        self._run = recording.run
        windows = (*recording.earlier, *recording.windows)
        self._saves += sum(window.saved_ns is not None for window in windows)
        if windows and self._to_judge:
            # The restart goes on: steps since the last checkpoint were repeated.
            if self._saves:
                self._book.turn(self._unsaved, TimeUse.REPEATED)
            else:
                self._unknown = True
            self._to_judge, self._unsaved = False, _Book()
        for window in windows:
            self._window(window)

    def account(self, tail: TimeUse = TimeUse.STEPS, end_ns: int | None = None) -> Account:
        """All until `end_ns`, or the last that was heard; `tail` goes on since the last window."""
        book = _Book()
        book.add(self._book.spent, self._book.minutes)
        if self._run is not None:
            end_ns = self._run.last_ns if end_ns is None else end_ns
            book.put(tail, self._accounted_ns, end_ns, max(end_ns - self._accounted_ns, 0) / NS)
        return Account(spent=book.spent, minutes=book.minutes, restarts_unknown=self._unknown)

    def spent(self, tail: TimeUse, end_ns: int | None = None) -> Spent:
        """The sums alone, cheap enough for each second."""
        run, spent = self._run, dict(self._book.spent)
        if run is not None:
            left_ns = (run.last_ns if end_ns is None else end_ns) - self._accounted_ns
            spent[tail] = spent.get(tail, 0.0) + max(left_ns, 0) / NS
        return spent

    def _begin(self, run: Run) -> None:
        """Another run: of the same process, or of a restart."""
        before = self._run
        process_ns = run.process_started_ns or run.started_ns
        # A notebook's process may be days old when training begins: that is no start-up.
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
            well = before.ended_ns is not None and not before.failure and not before.exit_code
            self._to_judge = not well
            if well:
                self._unsaved = _Book()
        self._accounted_ns = run.started_ns

    def _close(self, run: Run) -> None:
        # A run without an end was killed: its steps after the last window are in no checkpoint, and
        # the restart repeats them.
        use = TimeUse.OTHER if run.ended_ns is not None else TimeUse.REPEATED
        self._span(use, self._accounted_ns, run.last_ns)

    def _window(self, window: Window) -> None:
        """The parts of a window; the part after its checkpoint is unsaved."""
        # Windows that were lost or deleted.
        self._span(TimeUse.UNRECORDED, self._accounted_ns, window.start_ns)
        since_ns = window.start_ns
        if window.saved_ns is not None:
            since_ns, self._unsaved = max(since_ns, window.saved_ns), _Book()
        active_s = window.active_s if window.steps else 0.0
        unsaved = min((window.end_ns - since_ns) / NS / max(active_s, 1e-9), 1.0)
        for use, seconds in parts(window).items():
            self._book.put(use, window.start_ns, window.end_ns, seconds)
            if use in (TimeUse.INPUT, TimeUse.STEPS):
                self._unsaved.put(use, window.start_ns, window.end_ns, unsaved * seconds)
        self._accounted_ns = max(self._accounted_ns, window.end_ns)

    def _span(self, use: TimeUse, start_ns: int, end_ns: int) -> None:
        self._book.put(use, start_ns, end_ns, max(end_ns - start_ns, 0) / NS)


def parts(window: Window) -> dict[TimeUse, float]:
    """The uses of a window's time, in s: decided here alone."""
    # Each takes from the rest left by the ones before: the figures come from several clocks and may
    # exceed the window together.
    left_s = max(window.whole_s, 0.0)
    known_ms = window.evaluation_ms + window.checkpoint_ms + window.restore_ms
    spent: dict[TimeUse, float] = {}
    for use, ms in (
        (TimeUse.EVALUATION, window.evaluation_ms),
        (TimeUse.SAVE, window.checkpoint_ms),
        (TimeUse.RESTORE, window.restore_ms),
        (TimeUse.OTHER, window.pause_ms - known_ms),
        (TimeUse.COMPILE, window.compile_ms),
        (TimeUse.STALLED, window.stalled_ms),
        (TimeUse.INPUT, window.wait_ms or 0.0),
    ):
        spent[use] = min(max(ms / 1e3, 0.0), left_s)
        left_s -= spent[use]
    spent[TimeUse.STEPS if window.steps else TimeUse.OTHER] = left_s + (
        0.0 if window.steps else spent[TimeUse.OTHER]
    )
    return spent


def together(accounts: Iterable[Account]) -> Account:
    """The accounts of several workers as one: their times added up."""
    book, unknown = _Book(), False
    for account in accounts:
        unknown = unknown or account.restarts_unknown
        book.add(account.spent, account.minutes)
    return Account(spent=book.spent, minutes=book.minutes, restarts_unknown=unknown)
