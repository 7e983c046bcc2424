"""The points on their way to Cloud Monitoring, on disk until the service has taken them.

Each point is counted once: accepted, or lost for a reason. A point in flight when the process died
is sent again, and counts as accepted if the service reports that it exists.
"""

import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tpudiag.errors import UsageError
from tpudiag.monitoring.cloud.resource import PointSource
from tpudiag.monitoring.store import transaction

LOST = ("too old", "refused", "buffer full")
LIMIT_POINTS = 200_000
"""Two days of a dozen series, one point each 30 s."""
_KEY = "source = ? AND metric = ? AND end_ns = ?"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS sources (id INTEGER PRIMARY KEY, source TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS waiting (
    source INTEGER, metric TEXT, end_ns INTEGER, value REAL, under_way INTEGER DEFAULT 0,
    PRIMARY KEY (source, metric, end_ns)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS series (
    source INTEGER, metric TEXT, last_ns INTEGER, PRIMARY KEY (source, metric)
);
CREATE TABLE IF NOT EXISTS counts (what TEXT PRIMARY KEY, points INTEGER);
"""


@dataclass(frozen=True)
class Point:
    """One figure at one time; `again` where an earlier try may have reached the service."""

    source: PointSource
    metric: str
    end_ns: int
    value: float
    again: bool = False

    @property
    def series(self) -> tuple[PointSource, str]:
        """The time series that it belongs to."""
        return self.source, self.metric


class Spool:
    """Ordered points, and counts of those that left."""

    def __init__(self, path: Path) -> None:
        # SQLite serialises processes; two threads on one connection would share a transaction.
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=5.0, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            # With WAL a power cut loses the last points but never the file; FULL would sync at each
            # point.
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_SCHEMA)
            damage = self._damage()
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{path}: the buffer cannot be opened: {error}") from error
        if damage:
            self.close()
            raise UsageError(f"{path}: the buffer is damaged ({damage}): remove it")

    def _damage(self) -> str:
        """The part of the file that no spool wrote; empty where it is intact."""
        (whole,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if whole != "ok":
            return str(whole).splitlines()[0]
        unknown = "SELECT 1 FROM waiting WHERE source NOT IN (SELECT id FROM sources)"
        if self._connection.execute(unknown).fetchone():
            return "points without a source"
        try:
            for (text,) in self._connection.execute("SELECT source FROM sources"):
                PointSource.of(text)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return "values of sources"
        return ""

    def add(self, points: Sequence[Point], least_apart_ns: int) -> None:
        """Keep the points that are new and far enough from the last of their series."""
        with self._transaction() as connection:
            for point in points:
                series = (self._number(point.source), point.metric)
                row = connection.execute(
                    "SELECT last_ns FROM series WHERE source = ? AND metric = ?", series
                ).fetchone()
                # Across restarts, too: the service remembers the last point of a series.
                if row is not None and point.end_ns < row[0] + least_apart_ns:
                    continue
                connection.execute(
                    "INSERT INTO waiting (source, metric, end_ns, value) VALUES (?, ?, ?, ?)",
                    (*series, point.end_ns, point.value),
                )
                connection.execute(
                    "INSERT OR REPLACE INTO series VALUES (?, ?, ?)", (*series, point.end_ns)
                )
            self._evict()

    def due(self) -> list[Point]:
        """The oldest point of each series, the oldest first."""
        with self._transaction() as connection:
            rows = connection.execute(
                # One point of each series per call, in order of time, as the API requires.
                "SELECT s.source, metric, min(end_ns), value, under_way FROM waiting "
                "JOIN sources AS s ON s.id = waiting.source GROUP BY s.id, metric ORDER BY 3"
            ).fetchall()
        return [
            Point(PointSource.of(source), metric, end_ns, value, bool(again))
            for source, metric, end_ns, value, again in rows
        ]

    def mark(self, points: Sequence[Point], *, under_way: bool) -> None:
        """Mark points before they are sent: a process that dies then may have written them."""
        with self._transaction() as connection:
            update = f"UPDATE waiting SET under_way = {int(under_way)} WHERE {_KEY}"
            connection.executemany(update, self._keys(points))

    def done(self, points: Sequence[Point], accepted: int, lost_as: str) -> None:
        """The first `accepted` points were written, the others are lost; all leave the spool."""
        with self._transaction() as connection:
            connection.executemany(f"DELETE FROM waiting WHERE {_KEY}", self._keys(points))
            self._count("accepted", accepted)
            self._count(lost_as, len(points) - accepted)

    def drop_before(self, end_ns: int) -> None:
        """Count points that are too old for the service as lost."""
        with self._transaction() as connection:
            gone = connection.execute("DELETE FROM waiting WHERE end_ns < ?", (end_ns,)).rowcount
            self._count("too old", gone)

    @property
    def waiting(self) -> int:
        """Points that are still to be sent."""
        with self._lock:
            (count,) = self._connection.execute("SELECT count(*) FROM waiting").fetchone()
        return int(count)

    @property
    def counts(self) -> dict[str, int]:
        """Points accepted, and points lost by reason."""
        with self._lock:
            return dict(self._connection.execute("SELECT what, points FROM counts").fetchall())

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        """All or nothing, one thread at a time."""
        with self._lock, transaction(self._connection) as connection:
            yield connection

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _evict(self) -> None:
        """Count the oldest points as lost where there are too many."""
        surplus = self.waiting - LIMIT_POINTS
        if surplus > 0:
            self._connection.execute(
                "DELETE FROM waiting WHERE (source, metric, end_ns) IN "
                "(SELECT source, metric, end_ns FROM waiting ORDER BY end_ns LIMIT ?)",
                (surplus,),
            )
            self._count("buffer full", surplus)

    def _count(self, what: str, points: int) -> None:
        if points:
            self._connection.execute(
                "INSERT INTO counts VALUES (?, ?) "
                "ON CONFLICT (what) DO UPDATE SET points = points + excluded.points",
                (what, points),
            )

    def _number(self, source: PointSource) -> int:
        text = (source.text,)
        self._connection.execute("INSERT OR IGNORE INTO sources (source) VALUES (?)", text)
        return int(
            *self._connection.execute("SELECT id FROM sources WHERE source = ?", text).fetchone()
        )

    def _keys(self, points: Sequence[Point]) -> list[tuple[int, str, int]]:
        return [(self._number(point.source), point.metric, point.end_ns) for point in points]
