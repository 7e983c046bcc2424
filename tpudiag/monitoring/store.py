"""The file that recordings are kept in: SQLite, written ahead (WAL), so that a kill harms none.

A window is kept in one transaction with the run's own row: what was committed survives SIGKILL,
and a window offered twice is kept once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

from tpudiag.errors import UnreadableInput
from tpudiag.monitoring.recording import Pause, Recording, Run, Trace, Window

# The letters "tpud": SQLite keeps the number in its header, so that a database of another program
# is told from ours without a look at its tables.
APPLICATION_ID = 0x74707564
VERSION = 3
BUSY_S = 5.0
AT_ONCE = 100_000
"""The newest windows that one look takes in: a day of one a second."""
KEEP_WINDOWS = 1_000_000
"""The newest windows of a run that are kept: eleven days of one a second."""
# WITHOUT ROWID: rows are read by their key alone, and would else be kept twice, in the table and in
# the index of the key.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, name TEXT, host TEXT, pid INTEGER, started_ns INTEGER, beat_ns INTEGER,
    global_batch INTEGER, pausing TEXT, lost_steps INTEGER, ended_ns INTEGER, unit TEXT,
    hbm_limit_bytes INTEGER, failure TEXT, monotonic_ns INTEGER, machine TEXT, worker TEXT,
    loop INTEGER, parameters INTEGER, process_started_ns INTEGER
);
CREATE TABLE IF NOT EXISTS windows (
    run TEXT, number INTEGER, start_ns INTEGER, end_ns INTEGER, steps INTEGER, step_ms TEXT,
    wait_ms REAL, pause_ms REAL, hbm_bytes INTEGER, examples INTEGER,
    compile_ms REAL, PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pauses (
    run TEXT, kind TEXT, start_ns INTEGER, end_ns INTEGER, PRIMARY KEY (run, start_ns, kind)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS traces (
    run TEXT, function TEXT, start_ns INTEGER, end_ns INTEGER,
    PRIMARY KEY (run, start_ns, function)
) WITHOUT ROWID;
"""
_RUN_COLUMNS = (
    "id, name, host, pid, started_ns, beat_ns, global_batch, pausing, lost_steps, ended_ns, unit, "
    "hbm_limit_bytes, failure, monotonic_ns, machine, worker, loop, parameters, process_started_ns"
)
_WINDOW_COLUMNS = (
    "number, start_ns, end_ns, steps, step_ms, wait_ms, pause_ms, hbm_bytes, examples, compile_ms"
)


class NotYetRecorded(UnreadableInput):
    """A recording that is just being made."""


class Store:
    """The sink of a recorder: one connection, opened and used in the recorder's thread."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        try:
            _prepare(self._connection)
        except BaseException:
            self._connection.close()
            raise

    def write(
        self,
        run: Run,
        windows: tuple[Window, ...],
        pauses: tuple[Pause, ...],
        traces: tuple[Trace, ...] = (),
    ) -> None:
        """Keep them in one transaction, or nothing; raises sqlite3.Error."""
        with _transaction(self._connection) as connection:
            values = [getattr(run, name) for name in _RUN_COLUMNS.split(", ")]
            connection.execute(
                f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * len(values))})", values
            )
            connection.executemany(
                # A recorder whose write failed offers the same windows again: some may have been
                # kept. The run's own row is replaced instead, for its beat changes.
                "INSERT OR IGNORE INTO windows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(run.id, *_row(window)) for window in windows],
            )
            connection.executemany(
                "INSERT OR IGNORE INTO traces VALUES (?, ?, ?, ?)",
                [(run.id, t.function, t.start_ns, t.end_ns) for t in traces],
            )
            connection.executemany(
                "INSERT OR IGNORE INTO pauses VALUES (?, ?, ?, ?)",
                [(run.id, p.kind, p.start_ns, p.end_ns) for p in pauses],
            )
            # Now and then, for a DELETE walks the index; a run of a window a second has a million
            # in eleven days.
            if windows and windows[-1].number % 1000 < len(windows):
                oldest = windows[-1].number - KEEP_WINDOWS
                connection.execute(
                    "DELETE FROM windows WHERE run = ? AND number <= ?", (run.id, oldest)
                )

    def close(self) -> None:
        """Close the file; the last connection folds the log into it."""
        self._connection.close()


def is_store(path: Path) -> bool:
    """Whether the file is a SQLite database."""
    try:
        with path.open("rb") as stream:
            return stream.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def read(path: Path, run_id: str | None = None, after: int = -1) -> Recording:
    """The newest run of the file (or the one named), its windows after a number.

    Raises UnreadableInput where there is none, or the file is none of ours.
    """
    try:
        # One snapshot for all that is read: between two queries the job may keep a window whose
        # pause came before it.
        with closing(_opened(path)) as connection, _transaction(connection, "DEFERRED"):
            run = _run(connection, path, run_id)
            rows = connection.execute(
                f"SELECT {_WINDOW_COLUMNS} FROM windows WHERE run = ? AND number > max(?, "
                "(SELECT max(number) FROM windows WHERE run = ?) - ?) ORDER BY number",
                (run.id, after, run.id, AT_ONCE),
            )
            windows = tuple(_window(row) for row in rows)
            pauses = tuple(Pause(*row) for row in _of_run(connection, "kind", "pauses", run))
            traces = tuple(Trace(*row) for row in _of_run(connection, "function", "traces", run))
    except (sqlite3.Error, ValueError) as error:
        raise UnreadableInput(f"{path}: {error}") from error
    return Recording(run, windows, pauses, str(path), traces)


def runs(path: Path) -> tuple[Run, ...]:
    """The runs of the file, the earliest first; raises UnreadableInput."""
    try:
        with closing(_opened(path)) as connection:
            rows = connection.execute(f"SELECT {_RUN_COLUMNS} FROM runs ORDER BY started_ns")
            return tuple(_run_of(row) for row in rows)
    except (sqlite3.Error, ValueError) as error:
        raise UnreadableInput(f"{path}: {error}") from error


def _of_run(
    connection: sqlite3.Connection, what: str, table: str, run: Run
) -> list[tuple[str, int, int]]:
    """The rows of a run in a table of times, in their order."""
    return connection.execute(
        f"SELECT {what}, start_ns, end_ns FROM {table} WHERE run = ? ORDER BY start_ns", (run.id,)
    ).fetchall()


def _opened(path: Path) -> sqlite3.Connection:
    """A connection for reading; raises UnreadableInput where the file is another's."""
    connection = sqlite3.connect(
        # Read only: to watch must not make a file, nor take the lock for which the job would wait.
        f"{path.absolute().as_uri()}?mode=ro",
        uri=True,
        timeout=BUSY_S,
        isolation_level=None,
    )
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    # Between sqlite3.connect and its first transaction a file has a name and nothing in it: the job
    # has just begun.
    if not application and not tables:
        connection.close()
        raise NotYetRecorded(f"{path}: nothing is recorded in it yet")
    if application != APPLICATION_ID or version != VERSION:
        connection.close()
        reason = "no recording of tpudiag"
        if application == APPLICATION_ID:
            reason = f"a recording of version {version}; this tpudiag reads {VERSION}"
        raise UnreadableInput(f"{path}: {reason}")
    return connection


def _run(connection: sqlite3.Connection, path: Path, run_id: str | None) -> Run:
    """The row of the run."""
    which = "WHERE id = ?" if run_id else "ORDER BY started_ns DESC LIMIT 1"
    row = connection.execute(
        f"SELECT {_RUN_COLUMNS} FROM runs {which}", (run_id,) if run_id else ()
    ).fetchone()
    if row is None:
        raise UnreadableInput(f"{path}: no run {run_id or 'was recorded'} in it")
    return _run_of(row)


def _run_of(row: Sequence[Any]) -> Run:
    """Columns as a run."""
    return Run(**dict(zip(_RUN_COLUMNS.split(", "), row, strict=True)))


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables; refuses a database that is another program's."""
    with _transaction(connection, "DEFERRED"):  # one view, beside a process that makes the tables
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != APPLICATION_ID:
        raise sqlite3.DatabaseError("a database of another program")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    with _transaction(connection):
        # One by one: executescript would commit first, and a process that begins at the same moment
        # would meet half of the tables.
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def _transaction(
    connection: sqlite3.Connection, lock: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE"
) -> Generator[sqlite3.Connection]:
    """All or nothing."""
    # A deferred transaction that goes on to write while another does is refused at once, whatever
    # the timeout; one that asks for the lock at its beginning waits for it.
    connection.execute(f"BEGIN {lock}")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _row(window: Window) -> tuple[object, ...]:
    """A window as its columns."""
    return (
        window.number,
        window.start_ns,
        window.end_ns,
        window.steps,
        json.dumps(window.step_ms, separators=(",", ":")),
        window.wait_ms,
        window.pause_ms,
        window.hbm_bytes,
        window.examples,
        window.compile_ms,
    )


def _window(row: Sequence[Any]) -> Window:
    """Columns as a window."""
    columns: dict[str, Any] = dict(zip(_WINDOW_COLUMNS.split(", "), row, strict=True))
    # JSON knows lists only, and a histogram is compared and hashed as tuples.
    columns["step_ms"] = tuple((key, count) for key, count in json.loads(columns["step_ms"]))
    return Window(**columns)
