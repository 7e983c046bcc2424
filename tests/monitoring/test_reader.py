"""Recordings that no recorder wrote: one clear line, nothing lost, no hang."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.monitoring import recordings
from tpudiag.diagnoses.watch_request import WatchRequest
from tpudiag.diagnoses.watch_session import WatchSession
from tpudiag.errors import UnreadableInput
from tpudiag.monitoring import reader
from tpudiag.monitoring.reader import read
from tpudiag.monitoring.store import RUN_COLUMNS, WINDOW_COLUMNS
from tpudiag.settings import Settings

STEPS = [1.0] * 40
COLUMNS = ", ".join(f"i AS {name}" for name in RUN_COLUMNS.split(", "))
ENDLESS = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {COLUMNS} FROM n"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "run.sqlite"
    recordings.write(path, STEPS)
    return path


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
    with WatchSession(WatchRequest(sources=(str(recorded),)), Settings()) as session:
        assert session.look()
        assert session.look()
        assert "1 row of the recording is damaged, and left out." in session.report().notes


UNREADABLE = {
    "a run without times": "UPDATE runs SET started_ns = NULL",
    "a run of no process": "UPDATE runs SET pid = -1",
    "a run that ends in 2262": "UPDATE runs SET ended_ns = 9223372036854775807",
    "a name of a megabyte": f"UPDATE runs SET name = '{'x' * 1_100_000}'",
    "a unit that there is not": "UPDATE runs SET unit = 'furlongs'",
    "another's version": "PRAGMA user_version = 999",
}


@pytest.mark.parametrize("statement", UNREADABLE.values(), ids=UNREADABLE)
def test_a_recording_that_cannot_be_read_is_one_clear_line(recorded: Path, statement: str) -> None:
    changed(recorded, statement)
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


def test_what_takes_too_long_is_ended(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_S", 0.05)
    monkeypatch.setattr(reader, "_tables", frozenset)
    changed(recorded, "DROP TABLE runs", f"CREATE VIEW runs AS {ENDLESS}")
    with pytest.raises(UnreadableInput, match="could not be read within"):
        reader.runs(recorded)


def test_a_plain_kill_ends_a_query_that_lasts(recorded: Path) -> None:
    changed(recorded, "DROP TABLE runs", f"CREATE VIEW runs AS {ENDLESS}")
    code = f"""
import signal
from pathlib import Path
from tpudiag.monitoring import reader
def came(*_): raise KeyboardInterrupt
signal.signal(signal.SIGTERM, came)
reader._tables = frozenset
print("reads", flush=True)
reader.runs(Path({str(recorded)!r}))
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=15)
    assert said.strip().endswith("KeyboardInterrupt")


def test_a_pipe_in_the_folder_is_not_waited_for(recorded: Path) -> None:
    os.mkfifo(recorded.parent / "pipe.sqlite")
    with WatchSession(WatchRequest(sources=(str(recorded.parent),)), Settings()) as session:
        assert session.look()


VALUES = (
    "NULL", "'text'", "-1", "0", "9223372036854775807", "9e999", "-9e999", "x'00ff'",
    "zeroblob(100000)", "1.5", f"'{'[' * 5_000}'", "'[[0,1]]'", "''",
)  # fmt: skip


def fuzzed(path: Path, seed: int) -> None:
    """Cells of some rows replaced, or bytes of the file."""
    rng = random.Random(seed)
    if seed % 3 == 0:
        data = bytearray(path.read_bytes())
        for _ in range(rng.randrange(1, 200)):
            data[rng.randrange(100, len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.randrange(1, len(data))] if seed % 2 else data)
        return
    columns = {"runs": RUN_COLUMNS, "windows": WINDOW_COLUMNS}
    for _ in range(rng.randrange(1, 5)):
        table = rng.choice(sorted(columns))
        column, value = rng.choice(columns[table].split(", ")), rng.choice(VALUES)
        where = f"WHERE number = {rng.randrange(40)}" if table == "windows" else ""
        # What the table itself refuses is no damage.
        statement = f"UPDATE OR IGNORE {table} SET {column} = {value} {where}"
        try:
            changed(path, statement)
        except sqlite3.IntegrityError:
            continue


FUZZ = """
import json, resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from tpudiag.diagnoses.watch_session import WatchSession as Session
from tpudiag.diagnoses.watch_request import WatchRequest
from tpudiag.errors import TpudiagError
from tpudiag.settings import Settings
told = {}
for path in sys.argv[1:]:
    try:
        with Session(WatchRequest(sources=(path,)), Settings()) as session:
            if session.look():
                session.report()
        told[path] = "report"
    except TpudiagError as error:
        assert "\\n" not in str(error), error
        told[path] = "refused"
print(json.dumps(told))
"""


@pytest.mark.slow
def test_no_damage_is_a_traceback_a_hang_or_takes_the_memory(tmp_path: Path) -> None:
    paths = [tmp_path / f"{seed}.sqlite" for seed in range(240)]
    recordings.write(paths[0], STEPS)
    whole = paths[0].read_bytes()
    for seed, path in enumerate(paths):
        path.write_bytes(whole)
        fuzzed(path, seed)
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, *map(str, paths)],
        capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert len(told) == len(paths)
    assert {"report", "refused"} == set(told.values())
