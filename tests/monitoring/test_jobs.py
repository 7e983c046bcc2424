"""A job, its workers, and jobs beside each other."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring import recordings
from tpudiag.diagnoses.watched_figures import notes
from tpudiag.monitoring.causes.investigation import odd_of_two
from tpudiag.monitoring.causes.stacks import MainThread

STEADY = [1.0] * 40


@pytest.mark.parametrize(
    ("first", "second", "jobs"),
    [
        ({"name": "a.py"}, {"name": "b.py"}, 2),
        ({"global_batch": 64}, {"global_batch": 128}, 2),
        ({"worker": "worker 0"}, {"worker": "worker 1"}, 1),
        ({"host": "h0"}, {"host": "h1"}, 1),
        ({"worker": "worker 0"}, {"worker": "worker 0"}, 2),
        ({}, {}, 2),
    ],
)
def test_workers_of_one_job_and_two_jobs(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], jobs: int
) -> None:
    for name, changed in (("x", first), ("y", second)):
        recordings.write(tmp_path / name / "a.sqlite", STEADY, id=name, **changed)
    job = recordings.polled(tmp_path / "x", tmp_path / "y")
    assert len(job.jobs) == jobs
    assert len({watched.worker for watched in job.workers}) == 2


def test_a_fleet_is_a_line_a_job_and_the_sick_stand_first(tmp_path: Path) -> None:
    for number in range(6):
        path = tmp_path / str(number) / "a.sqlite"
        failure, ended_ns = ("ValueError: no data", time.time_ns()) if number == 4 else (None, None)
        recordings.write(path, STEADY, id=str(number), failure=failure, ended_ns=ended_ns)
    with recordings.looked(*(tmp_path / str(number) for number in range(6))) as session:
        report = session.report()
    assert report.headline.startswith("6 jobs, 1 sick; the sickest, ")
    (table,) = [table for table in report.tables if table.title.startswith("Jobs")]
    assert len(table.rows) == 6
    assert str(table.rows[0][0]).startswith(str(tmp_path / "4"))
    assert table.rows[0][-1] == "failed"


def test_of_several_that_died_the_first_heads_the_report(tmp_path: Path) -> None:
    now_ns = time.time_ns()
    for number, (failure, ago_s) in enumerate((("Socket closed", 1), ("ValueError: 7", 9))):
        recordings.write(
            tmp_path / f"{number}.sqlite", STEADY, id=str(number), host=f"h{number}",
            failure=failure, beat_ns=now_ns - ago_s * 10**9, ended_ns=now_ns - ago_s * 10**9,
        )  # fmt: skip
    with recordings.looked(tmp_path) as session:
        report = session.report()
    (failed,) = [outcome for outcome in report.outcomes if outcome.id == "TPU609"]
    assert failed.findings[0].message.startswith("h1: the job ended by ValueError: 7")
    assert "h1" in report.headline


def test_of_two_workers_the_line_that_grew_names_the_one_that_is_waited_for() -> None:
    def at(step: float, read: float) -> MainThread:
        return MainThread(lines=(("train.py:9 (step)", step), ("train.py:4 (read)", read)))

    usual = {0: at(0.7, 0.2), 1: at(0.7, 0.2)}
    assert odd_of_two({0: at(0.9, 0.1), 1: at(0.3, 0.7)}, usual) == (1, "train.py:4 (read)")
    assert odd_of_two({0: at(0.3, 0.7), 1: at(0.3, 0.7)}, usual) is None, "both read"
    assert odd_of_two({0: at(0.9, 0.1), 1: at(0.3, 0.7)}, {0: usual[0]}) is None


@pytest.mark.parametrize(("workers", "said"), [([3], True), ([0], False), ([0, 3], False)])
def test_of_one_worker_among_others_it_is_said_that_they_are_not_seen(
    tmp_path: Path, workers: list[int], said: bool
) -> None:
    for number in workers:
        recordings.write(
            tmp_path / str(number) / "a.sqlite", STEADY, id=str(number), worker=f"worker {number}"
        )
    job = recordings.polled(*(tmp_path / str(number) for number in workers))
    assert any("only worker 3 is seen here" in note for note in notes(job)) is said
