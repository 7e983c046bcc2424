"""Reads recordings, which strangers may have written: every row is validated.

The tables must match ours exactly: a view or computed column could run its author's code. Rows
that do not fit their table are skipped and counted.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tpudiag.errors import UnreadableInput
from tpudiag.monitoring.recording import NS, Recording, Run, Trace, Window
from tpudiag.monitoring.store import (
    APPLICATION_ID,
    BUSY_S,
    HOUR_S,
    MINUTE_S,
    ROLLUP_COLUMNS,
    RUN_COLUMNS,
    SCHEMA,
    VERSION,
    WINDOW_COLUMNS,
    transaction,
)

AT_ONCE = 20_000
"""The newest windows that one poll reads: five hours of one per second. Earlier ones are read by
minutes, and by hours before the newest so many."""
MINUTES_S = 14 * 86_400
MOST_RUNS = 10_000
MOST_BYTES = 1 << 20
"""Of one value: a histogram has some kilobytes, an exception's text less."""
MOST_TEXT = 2_000
END_NS = 4_102_444_800 * NS
"""The year 2100. A machine whose clock is not set yet may begin in 1970."""
LONGEST_NS = 400 * 86_400 * NS
"""A longer run had a wrong clock."""
MOST_COUNT = 1 << 50
Row = TypeVar("Row", Run, Window, Trace)
Spanned = TypeVar("Spanned", Window, Trace)


class NotYetRecorded(UnreadableInput):
    """A recording that is being created."""


def is_store(path: Path) -> bool:
    """Whether the file is a SQLite database."""
    try:
        # Opening a pipe would block.
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            return stream.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def read(
    path: Path, run_id: str | None = None, after: int = -1, at_once: int | None = None
) -> Recording:
    """The newest run of the file (or the named one), and its windows after a number.

    Without a number the newest `at_once`; earlier ones by minutes and hours.

    Raises UnreadableInput where there is none, or the file is no recording.
    """
    # One snapshot for all queries: the job may write a window between two of them.
    with _opened(path) as connection, transaction(connection, "DEFERRED"):
        run = _run(connection, path, run_id)
        bad = _Damage(run)
        cut, earlier = (after, ()) if after >= 0 else _earlier(connection, run, bad, at_once)
        rows = connection.execute(
            f"SELECT {WINDOW_COLUMNS} FROM windows WHERE run = ? AND typeof(number) = 'integer' "
            f"AND number > ? ORDER BY number LIMIT {2 * AT_ONCE}",
            (run.id, cut),
        )
        windows = tuple(bad.without(rows, _window))
        rows = connection.execute(
            f"SELECT function, start_ns, end_ns FROM traces WHERE run = ? ORDER BY start_ns DESC "
            f"LIMIT {AT_ONCE}",
            (run.id,),
        )
        traces = tuple(bad.without(rows.fetchall()[::-1], lambda row: _as(Trace, dict(row))))
    return Recording(run, windows, str(path), traces, frozenset(bad.rows), earlier)


def runs(path: Path) -> tuple[Run, ...]:
    """The runs of the file, the earliest first; raises UnreadableInput."""
    with _opened(path) as connection:
        rows = connection.execute(
            f"SELECT {RUN_COLUMNS} FROM runs ORDER BY started_ns DESC LIMIT {MOST_RUNS}"
        ).fetchall()
    found = [run for row in reversed(rows) if (run := _run_of(row)) is not None]
    if rows and not found:
        raise UnreadableInput(f"{path}: damaged: no run in it can be read")
    return tuple(found)


def _earlier(
    connection: sqlite3.Connection, run: Run, bad: _Damage, at_once: int | None
) -> tuple[int, tuple[Window, ...]]:
    """What came before the newest windows, by hours and minutes, and the number of its last."""
    at_once = AT_ONCE if at_once is None else at_once
    which = "FROM rollups WHERE run = ? AND width_s = ? AND typeof(number) = 'integer'"
    newest = connection.execute(
        f"SELECT number, start_s {which} ORDER BY start_s DESC LIMIT 1", (run.id, MINUTE_S)
    ).fetchone()
    if newest is None or newest[0] < at_once:
        return -1, ()
    until, old_s = newest[0] - at_once, newest[1] - MINUTES_S
    hours = connection.execute(
        f"SELECT {ROLLUP_COLUMNS} {which} AND number <= ? AND start_s < ? ORDER BY start_s",
        (run.id, HOUR_S, until, old_s),
    ).fetchall()
    # Hours are read up to where they meet minutes, then minutes alone.
    minutes = connection.execute(
        f"SELECT {ROLLUP_COLUMNS} {which} AND number > ? AND number <= ? ORDER BY start_s",
        (run.id, MINUTE_S, hours[-1][0] if hours else -1, until),
    ).fetchall()
    found = tuple(bad.without([*hours, *minutes], lambda row: _checked(dict(row))))
    return (found[-1].number if found else -1), found


class _Damage:
    """Separates rows that no recorder wrote."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.rows: set[str] = set()

    def without(
        self, rows: Iterable[Any], made: Callable[[Any], Spanned | None]
    ) -> Iterator[Spanned]:
        """The valid rows: in the run's time, in order."""
        last_ns = self._run.started_ns - LONGEST_NS
        for row in rows:
            one = made(row)
            if one is None or not self._fits(one, last_ns):
                self.rows.add(repr(tuple(row))[:80])
                continue
            last_ns = one.end_ns if isinstance(one, Window) else last_ns
            yield one

    def _fits(self, one: Window | Trace, last_ns: int) -> bool:
        first_ns = self._run.started_ns - 60 * NS
        until_ns = self._run.last_ns + LONGEST_NS
        return max(first_ns, last_ns) <= one.start_ns <= one.end_ns <= until_ns


@contextmanager
def _opened(path: Path) -> Generator[sqlite3.Connection]:
    """A connection for reading; raises UnreadableInput where the file is damaged or another's."""
    try:
        # Read only: watching must not create a file, nor take the job's lock.
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(
            sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None)
        ) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
            connection.row_factory = sqlite3.Row
            connection.text_factory = partial(str, encoding="utf-8", errors="replace")
            _check_tables(connection, path)
            yield connection
    except (sqlite3.Error, ValueError, OverflowError, RecursionError) as error:
        # SQLite repeats parts of the file.
        reason = " ".join(str(error).split())[:200]
        raise UnreadableInput(f"{path}: {reason}") from error


def _check_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Raise UnreadableInput where the tables are not ours, and sqlite3.Error."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {
        (name, kind, " ".join(str(sql).split()))
        for name, kind, sql in connection.execute("SELECT name, type, sql FROM sqlite_master")
    }
    # Between sqlite3.connect and its first transaction a file is empty: the job has just begun.
    if not application and not tables:
        raise NotYetRecorded(f"{path}: nothing is recorded in it yet")
    if application != APPLICATION_ID:
        raise UnreadableInput(f"{path}: no recording of tpudiag")
    if version != VERSION:
        raise UnreadableInput(
            f"{path}: a recording of version {version}; this tpudiag reads {VERSION}"
        )
    if not tables >= _tables():
        raise UnreadableInput(f"{path}: damaged: its tables are not those of a recording")


@cache
def _tables() -> frozenset[tuple[str, str, str]]:
    """The tables of a recording, as SQLite keeps them."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        rows = connection.execute("SELECT name, type, sql FROM sqlite_master WHERE sql NOT NULL")
        return frozenset((name, kind, " ".join(sql.split())) for name, kind, sql in rows)


def _run(connection: sqlite3.Connection, path: Path, run_id: str | None) -> Run:
    which = "WHERE id = ?" if run_id else "ORDER BY started_ns DESC LIMIT 1"
    row = connection.execute(
        f"SELECT {RUN_COLUMNS} FROM runs {which}", (run_id,) if run_id else ()
    ).fetchone()
    if row is None:
        raise UnreadableInput(f"{path}: no run {run_id or 'was recorded'} in it")
    run = _run_of(row)
    if run is None:
        raise UnreadableInput(f"{path}: damaged: the row of its run holds what no recorder writes")
    return run


def _as(kind: type[Row], columns: dict[str, Any]) -> Row | None:
    """Columns as a run, window or trace; None where a value is of another type."""
    try:
        return msgspec.convert(columns, kind)
    except (msgspec.ValidationError, ValueError, TypeError):
        return None


def _run_of(row: sqlite3.Row) -> Run | None:
    run = _as(Run, dict(row))
    if run is None:
        return None
    times = (run.started_ns, run.beat_ns, *([] if run.ended_ns is None else [run.ended_ns]))
    counts = (run.global_batch, run.hbm_limit_bytes, run.parameters)
    texts = (run.id, run.name, run.host, run.machine, run.worker, run.pausing, run.failure)
    right = (
        # 0 and -1 mark runs without a process: event files, and a profiler's address.
        0 < run.pid < 1 << 31
        and all(0 <= at < END_NS for at in times)
        and run.last_ns - run.started_ns < LONGEST_NS
        and 0 <= run.lost_steps < MOST_COUNT
        and all(count is None or 0 < count < MOST_COUNT for count in counts)
        and all(text is None or len(text) <= MOST_TEXT for text in texts)
    )
    return run if right else None


def _window(row: sqlite3.Row) -> Window | None:
    columns = dict(row)
    try:
        columns["step_ms"] = json.loads(columns["step_ms"])
    except (ValueError, TypeError, RecursionError):
        return None
    return _checked(columns)


def _checked(columns: dict[str, Any]) -> Window | None:
    window = _as(Window, columns)
    if window is None:
        return None
    times_ms = (
        window.pause_ms, window.compile_ms, window.wait_ms or 0.0, window.stalled_ms,
        window.evaluation_ms, window.checkpoint_ms, window.restore_ms,
    )  # fmt: skip
    counts = (window.steps, window.stalls, window.paused, window.losses)
    right = (
        all(0 <= count < MOST_COUNT for count in counts)
        and (window.steps > 0 or window.paused > 0)
        and math.isfinite(window.loss or 0.0)
        and all(math.isfinite(ms) and 0 <= ms < LONGEST_NS / 1e6 for ms in times_ms)
        and all(abs(key) < 10_000 and 0 < count < MOST_COUNT for key, count in window.step_ms)
        and all(n is None or 0 < n < MOST_COUNT for n in (window.hbm_bytes, window.examples))
    )
    return window if right else None
