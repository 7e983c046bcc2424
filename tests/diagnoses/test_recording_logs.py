"""What a watched job prints is judged with its recording: known errors, and those that are not."""

import time
from contextlib import AbstractContextManager
from pathlib import Path

from tests.monitoring import recordings
from tpudiag.diagnoses.watch_session import WatchSession
from tpudiag.model import Severity

LOST = "tensorflow.python.framework.errors_impl.UnavailableError: Socket closed\n"


def session(folder: Path, *logs: Path) -> AbstractContextManager[WatchSession]:
    return recordings.looked(folder, logs=logs, quiet=frozenset({"TPU605"}))


def test_an_error_that_the_job_survives_is_told_and_raises_no_alert(tmp_path: Path) -> None:
    recordings.write(tmp_path / "a.sqlite", [1.0] * 100)
    log = tmp_path / "train.log"
    log.write_text("step 1\n", encoding="utf-8")
    with session(tmp_path, log) as watching:
        assert "TPU605" not in [outcome.id for outcome in watching.outcomes]
        with log.open("a", encoding="utf-8") as stream:
            stream.write(
                "Exception in thread Thread-1 (read):\nTraceback (most recent call last):\n"
                f'  File "train.py", line 9, in read\n{LOST}\nstep 2\n'
            )
        assert watching.look()
        (told,) = [outcome for outcome in watching.outcomes if outcome.id == "TPU605"]
        assert told.severity is Severity.WARNING
        assert "E28" in told.findings[0].message
        assert watching.alerts.lines == []


def test_an_error_that_ended_the_job_is_told_with_its_fix(tmp_path: Path) -> None:
    failure = f"{LOST.strip().rpartition('.')[2]} (train.py:12)"
    recordings.write(tmp_path / "a.sqlite", [1.0] * 100, failure=failure, ended_ns=time.time_ns())
    with session(tmp_path) as watching:
        (told,) = [outcome for outcome in watching.outcomes if outcome.id == "TPU605"]
        assert told.severity is Severity.ERROR
        assert told.findings[0].fix
        assert [alert.split()[0] for alert in watching.alerts.lines] == ["TPU605", "TPU609"]


def test_an_error_that_nobody_knows_is_said_whole(tmp_path: Path) -> None:
    failure = "FrobnicationError: the frobnicator is out of gas (train.py:12)"
    recordings.write(tmp_path / "a.sqlite", [1.0] * 100, failure=failure, ended_ns=time.time_ns())
    log = tmp_path / "train.log"
    log.write_text(
        'Traceback (most recent call last):\n  File "/job/train.py", line 12, in <module>\n'
        "FrobnicationError: the frobnicator is out of gas\n"
        "refill it at the checkpoint before the next epoch\n",
        encoding="utf-8",
    )
    with session(tmp_path, log) as watching:
        assert "TPU605" not in [outcome.id for outcome in watching.outcomes]
        (note,) = [note for note in watching.report().notes if "catalogue" in note]
    assert "out of gas refill it at the checkpoint before the next epoch" in note
