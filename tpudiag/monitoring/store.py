"""The file of recordings: SQLite with a write-ahead log (WAL), which survives a kill.

A window is written in one transaction with the run's row: what was committed survives SIGKILL,
and a window offered twice is kept once.
"""

import json
import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Literal

from tpudiag.monitoring.recording import Run, Trace, Window

# The letters "tpud": SQLite keeps the number in its header, which distinguishes another program's
# database without a look at its tables.
APPLICATION_ID = 0x74707564
VERSION = 4
BUSY_S = 5.0
KEEP_WINDOWS = 200_000
"""The newest windows kept per run: two days of one per second; roll-ups hold all."""
# WITHOUT ROWID: rows are read by their key alone, and would otherwise be stored twice, in the table
# and in the index.
SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, name TEXT, host TEXT, pid INTEGER, started_ns INTEGER, beat_ns INTEGER,
    global_batch INTEGER, pausing TEXT, lost_steps INTEGER, ended_ns INTEGER, unit TEXT,
    hbm_limit_bytes INTEGER, failure TEXT, monotonic_ns INTEGER, machine TEXT, worker TEXT,
    loop INTEGER, parameters INTEGER, process_started_ns INTEGER, exit_code INTEGER
);
CREATE TABLE IF NOT EXISTS windows (
    run TEXT, number INTEGER, start_ns INTEGER, end_ns INTEGER, steps INTEGER, step_ms TEXT,
    wait_ms REAL, pause_ms REAL, hbm_bytes INTEGER, examples INTEGER,
    compile_ms REAL, stalled_ms REAL, stalls INTEGER, paused INTEGER, evaluation_ms REAL,
    checkpoint_ms REAL, restore_ms REAL, saved_ns INTEGER, loss REAL, losses INTEGER, bad_loss TEXT,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rollups (
    run TEXT, width_s INTEGER, start_s INTEGER, number INTEGER, start_ns INTEGER, end_ns INTEGER,
    steps INTEGER, wait_ms REAL, pause_ms REAL, examples INTEGER, compile_ms REAL, stalled_ms REAL,
    stalls INTEGER, paused INTEGER, evaluation_ms REAL, checkpoint_ms REAL, restore_ms REAL,
    saved_ns INTEGER, PRIMARY KEY (run, width_s, start_s)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS traces (
    run TEXT, function TEXT, start_ns INTEGER, end_ns INTEGER,
    PRIMARY KEY (run, start_ns, function)
) WITHOUT ROWID;
"""


def _columns(table: str) -> list[str]:
    """The columns of a table as declared in the schema, without the run's id."""
    declared = SCHEMA.partition(f"EXISTS {table} (")[2].partition(";")[0]
    columns = re.findall(r"(\w+) (?:TEXT|INTEGER|REAL)\b", declared)
    return [name for name in columns if name != "run"]


RUN_COLUMNS, WINDOW_COLUMNS = ", ".join(_columns("runs")), ", ".join(_columns("windows"))
_ROLLED_UP = [name for name in _columns("rollups") if name not in ("width_s", "start_s")]
ROLLUP_COLUMNS = ", ".join(_ROLLED_UP)
SUMMED = [n for n in _ROLLED_UP if n not in ("number", "start_ns", "end_ns", "saved_ns")]
MINUTE_S, HOUR_S = 60, 3_600
_ROLL_UP = f"""
INSERT INTO rollups (run, width_s, start_s, {ROLLUP_COLUMNS})
SELECT run, :width, end_ns / (:width * 1000000000) * :width,
    max(number), min(start_ns), max(end_ns),
    {", ".join(f"sum({name})" for name in SUMMED)}, max(saved_ns)
FROM windows WHERE run = :run AND number > :after GROUP BY 3
ON CONFLICT (run, width_s, start_s) DO UPDATE SET
    number = excluded.number, end_ns = excluded.end_ns,
    saved_ns = coalesce(excluded.saved_ns, saved_ns),
    {", ".join(f"{n} = coalesce({n} + excluded.{n}, {n}, excluded.{n})" for n in SUMMED)}
"""


class Store:
    """What a recorder writes to: one connection, opened and used in the recorder's thread."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        try:
            _prepare(self._connection)
            self._path, self._file = path.absolute(), _identity(path)
        except BaseException:
            self._connection.close()
            raise

    def write(self, run: Run, windows: tuple[Window, ...], traces: tuple[Trace, ...] = ()) -> None:
        """Write in one transaction, or nothing; raises sqlite3.Error."""
        with transaction(self._connection) as connection:
            values = attrgetter(*RUN_COLUMNS.split(", "))(run)
            row = attrgetter(*WINDOW_COLUMNS.split(", "))
            connection.execute(
                f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * len(values))})", values
            )
            after = connection.execute(
                f"SELECT number FROM rollups WHERE run = ? AND width_s = {MINUTE_S} "
                "ORDER BY start_s DESC LIMIT 1",
                (run.id,),
            ).fetchone()
            connection.executemany(
                # A recorder whose write failed offers the same windows again. The run's own row is
                # replaced instead, since its beat changes.
                f"INSERT OR IGNORE INTO windows (run, {WINDOW_COLUMNS}) "
                f"VALUES (?{', ?' * len(WINDOW_COLUMNS.split(', '))})",
                [
                    (run.id, *(json.dumps(v) if isinstance(v, tuple) else v for v in row(window)))
                    for window in windows
                ],
            )
            for width in (MINUTE_S, HOUR_S) if windows else ():
                connection.execute(
                    _ROLL_UP, {"run": run.id, "width": width, "after": after[0] if after else -1}
                )
            connection.executemany(
                "INSERT OR IGNORE INTO traces VALUES (?, ?, ?, ?)",
                [(run.id, t.function, t.start_ns, t.end_ns) for t in traces],
            )
            # Only sometimes, since a DELETE walks the index.
            if windows and windows[-1].number % 1000 < len(windows):
                oldest = windows[-1].number - KEEP_WINDOWS
                connection.execute(
                    "DELETE FROM windows WHERE run = ? AND number <= ?", (run.id, oldest)
                )

    def gone(self) -> bool:
        """Whether the file was deleted: SQLite goes on with one that has no name."""
        try:
            return _identity(self._path) != self._file
        except FileNotFoundError:
            return True
        except OSError:
            return False  # a file system that does not answer now

    def close(self) -> None:
        """Close the file; the last connection merges the log into it."""
        self._connection.close()


def _identity(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_dev, about.st_ino


def _prepare(connection: sqlite3.Connection) -> None:
    """Create the tables; refuses another program's database."""
    with transaction(connection, "DEFERRED"):  # one view, beside a process that makes the tables
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != APPLICATION_ID:
        raise sqlite3.DatabaseError("a database of another program")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    with transaction(connection):
        # One by one: executescript would commit first, and a concurrent process would see half of
        # them.
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def transaction(
    connection: sqlite3.Connection, lock: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE"
) -> Generator[sqlite3.Connection]:
    """All or nothing."""
    # A deferred transaction that begins to write while another does is refused at once, whatever
    # the timeout; one that locks at its beginning waits.
    connection.execute(f"BEGIN {lock}")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
