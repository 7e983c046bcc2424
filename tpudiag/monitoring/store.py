"""The file of recordings: SQLite with a write-ahead log (WAL), which survives a kill.

A window is written in one transaction with the run's row: what was committed survives SIGKILL,
and a window offered twice is kept once.
"""

import json
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Literal

from tpudiag.monitoring.recording import Run, Trace, Window

# The letters "tpud": SQLite keeps the number in its header, which distinguishes another program's
# database without a look at its tables.
APPLICATION_ID = 0x74707564
VERSION = 4
"""Of the tables: to be raised with the fields of Run, Window and Trace, which are their columns."""
BUSY_S = 5.0
KEEP_WINDOWS = 200_000
"""The newest windows kept per run: two days of one per second; roll-ups hold all."""


def _columns(row: type) -> dict[str, str]:
    """The columns of a dataclass's fields, with their types."""
    types: dict[object, str] = {int: "INTEGER", float: "REAL"}
    types |= {int | None: "INTEGER", float | None: "REAL"}
    return {field.name: types.get(field.type, "TEXT") for field in fields(row)}


_RUN, _WINDOW = _columns(Run) | {"id": "TEXT PRIMARY KEY"}, _columns(Window)
_NOT_ROLLED_UP = ("step_ms", "hbm_bytes", "loss", "losses", "bad_loss")
_ROLLED_UP = {name: kind for name, kind in _WINDOW.items() if name not in _NOT_ROLLED_UP}
RUN_COLUMNS, WINDOW_COLUMNS, ROLLUP_COLUMNS = map(", ".join, (_RUN, _WINDOW, _ROLLED_UP))
SUMMED = [n for n in _ROLLED_UP if n not in ("number", "start_ns", "end_ns", "saved_ns")]
_TABLES = (_RUN, _WINDOW, _ROLLED_UP, _columns(Trace))
# WITHOUT ROWID: rows are read by their key alone, and would otherwise be stored twice, in the table
# and in the index.
SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    {}
);
CREATE TABLE IF NOT EXISTS windows (
    run TEXT, {}, PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rollups (
    run TEXT, width_s INTEGER, start_s INTEGER, {}, PRIMARY KEY (run, width_s, start_s)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS traces (
    run TEXT, {}, PRIMARY KEY (run, start_ns, function)
) WITHOUT ROWID;
""".format(*(", ".join(map(" ".join, columns.items())) for columns in _TABLES))
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
            values, row = attrgetter(*_RUN)(run), attrgetter(*_WINDOW)
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
                f"INSERT OR IGNORE INTO windows VALUES (?{', ?' * len(_WINDOW)})",
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
