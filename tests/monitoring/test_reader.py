"""Recordings that no recorder wrote: one clear line, nothing lost, no hang."""

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.monitoring import recordings
from tpudiag.errors import UnreadableInput
from tpudiag.monitoring import reader
from tpudiag.monitoring.reader import read
from tpudiag.monitoring.store import RUN_COLUMNS, SCHEMA, VERSION

STEPS = [1.0] * 40
COLUMNS = ", ".join(f"i AS {name}" for name in RUN_COLUMNS.split(", "))
ENDLESS = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {COLUMNS} FROM n"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "run.sqlite"
    recordings.write(path, STEPS)
    return path


def test_other_tables_are_of_another_version() -> None:
    tables = hashlib.sha256(" ".join(SCHEMA.split()).encode()).hexdigest()
    assert (VERSION, tables[:16]) == (4, "02280e596ce4f63b")


def changed(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in ("PRAGMA synchronous = OFF", *statements):
            connection.execute(statement)
    return path


DAMAGED_ROWS = {
    "text for a number": "UPDATE windows SET steps = 'many' WHERE number = 7",
    "nothing": "UPDATE windows SET end_ns = NULL WHERE number = 7",
    "an infinity": "UPDATE windows SET pause_ms = 9e999 WHERE number = 7",
    "a negative wait": "UPDATE windows SET wait_ms = -1 WHERE number = 7",
    "no steps": "UPDATE windows SET steps = 0 WHERE number = 7",
    "a deep histogram": f"UPDATE windows SET step_ms = '{'[' * 100_000}' WHERE number = 7",
    "a histogram of words": """UPDATE windows SET step_ms = '[["a","b"]]' WHERE number = 7""",
    "a huge bucket": "UPDATE windows SET step_ms = '[[99999,1]]' WHERE number = 7",
    "a time of another century": "UPDATE windows SET end_ns = 1 << 62 WHERE number = 7",
    "a time before the last": "UPDATE windows SET start_ns = 0 WHERE number = 7",
    "a blob": "UPDATE windows SET step_ms = x'ff00' WHERE number = 7",
}


@pytest.mark.parametrize("statement", DAMAGED_ROWS.values(), ids=DAMAGED_ROWS)
def test_a_damaged_row_is_left_out_and_told_and_the_rest_is_read(
    recorded: Path, statement: str
) -> None:
    changed(recorded, statement)
    seen = read(recorded)
    assert len(seen.windows) == len(STEPS) - 1
    assert len(seen.damaged) == 1
    with recordings.looked(recorded) as session:
        assert session.look()
        assert "1 row of the recording is damaged, and left out." in session.report().notes


UNREADABLE = {
    "a run without times": "UPDATE runs SET started_ns = NULL",
    "a run of no process": "UPDATE runs SET pid = -1",
    "a run that ends in 2262": "UPDATE runs SET ended_ns = 9223372036854775807",
    "a name of a megabyte": f"UPDATE runs SET name = '{'x' * 1_100_000}'",
    "a unit that there is not": "UPDATE runs SET unit = 'furlongs'",
    "another's version": "PRAGMA user_version = 999",
    "of another program": "PRAGMA user_version = 0",
    "no database": b"SQLite format 3\0" + bytes(range(256)) * 16,
    "nothing": b"",
}


@pytest.mark.parametrize("change", UNREADABLE.values(), ids=UNREADABLE)
def test_a_recording_that_cannot_be_read_is_one_clear_line(
    recorded: Path, change: str | bytes
) -> None:
    if isinstance(change, bytes):
        recorded.write_bytes(change)
    else:
        changed(recorded, change)
    for look in (read, reader.runs):
        with pytest.raises(UnreadableInput) as told:
            look(recorded)
        assert str(recorded) in str(told.value)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize("table", ["runs", "windows", "traces"])
def test_a_view_in_the_place_of_a_table_is_not_run(recorded: Path, table: str) -> None:
    changed(recorded, f"DROP TABLE {table}", f"CREATE VIEW {table} AS {ENDLESS}")
    with pytest.raises(UnreadableInput, match="its tables are not those of a recording"):
        read(recorded)


def test_a_pipe_in_the_folder_is_not_waited_for(recorded: Path) -> None:
    os.mkfifo(recorded.parent / "pipe.sqlite")
    with recordings.looked(recorded.parent):
        pass
