"""A job of several workers, files and runs: all are judged, and followed through restarts."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring import recordings
from tpudiag.model import Outcome, Verdict
from tpudiag.monitoring.recording import NS
from tpudiag.monitoring.store import Store
from tpudiag.signals.run_state import StateKind

STEADY = [1.0] * 600


def outcomes(*paths: Path, idle_s: float | None = None) -> dict[str, Outcome]:
    with recordings.looked(*paths) as session:
        session.job.done(idle_s)
        return {outcome.id: outcome for outcome in session.report().outcomes}


def killed(path: Path, silent_s: int, **changed: Any) -> None:
    """A recording of a steady job whose process is gone since so long."""
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as process:
        pass
    beat_ns = int((time.time() - silent_s) * NS)
    recordings.write(path, STEADY, silent_s, id="one", pid=process.pid, beat_ns=beat_ns, **changed)


@pytest.mark.slow
def test_a_silent_worker_beside_a_healthy_one_fails(tmp_path: Path) -> None:
    recordings.write(tmp_path / "a.sqlite", STEADY, silent_s=900, id="a", worker="worker 0")
    recordings.write(tmp_path / "b.sqlite", STEADY, id="b", worker="worker 1")
    stalled = outcomes(tmp_path)["TPU604"]
    assert stalled.verdict is Verdict.FAILED
    assert [f.message.partition(":")[0] for f in stalled.findings] == ["worker 0"]


def test_several_sources_are_one_job_as_slow_as_its_slowest(tmp_path: Path) -> None:
    recordings.write(tmp_path / "0" / "a.sqlite", STEADY, id="a", host="h0", machine="x")
    recordings.write(
        tmp_path / "1" / "a.sqlite", STEADY + [1.6] * 60, id="b", host="h1", machine="y"
    )
    with recordings.looked(tmp_path / "0", tmp_path / "1") as session:
        report = session.report()
    assert report.headline.startswith("2 workers; the slowest, h1, is train.py: 40 examples/s")
    assert [row[0] for row in report.tables[0].rows] == ["h0", "h1"]
    dropped = next(o for o in report.outcomes if o.id == "TPU603")
    assert dropped.verdict is Verdict.FAILED


@pytest.mark.slow
def test_a_restart_at_half_speed_is_held_against_the_run_before(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    killed(path, 700)
    recordings.write(path, [2.0] * 300, id="two")
    with recordings.looked(path) as session:
        report = session.report()
    dropped = next(o for o in report.outcomes if o.id == "TPU603")
    assert dropped.verdict is Verdict.FAILED
    assert "50% below what its run of " in dropped.findings[0].message
    assert "1 restart seen." in report.notes


def test_another_target_or_batch_is_another_job(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    killed(path, 1_400, hbm_limit_bytes=2**34)
    recordings.write(path, [2.0] * 600, id="two", hbm_limit_bytes=2**33)
    assert outcomes(path)["TPU603"].verdict is Verdict.PASSED


def test_a_killed_job_that_resumes_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    killed(path, 30)
    with recordings.looked(path) as session:
        assert session.job.slowest.state.kind is StateKind.KILLED
        assert any("is gone" in line for line in session.alerts.lines)
        assert not session.job.done(None), "its restart has a minute to begin"
        assert session.job.done(20)
        recordings.write(path, [1.0] * 20, id="two")
        assert session.look()
        assert session.alerts.lines[-1] == "TPU609 run-failed: over"
        assert not session.job.done(None)
        assert session.job.slowest.restarts == 1


def test_epochs_of_one_process_share_a_baseline(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    store = Store(path)
    start = recordings.run(1_000)
    for epoch in range(10):
        began_ns = start.started_ns + epoch * 100 * NS
        made = replace(start, id=f"e{epoch}", started_ns=began_ns, beat_ns=began_ns + 99 * NS)
        made = replace(made, ended_ns=made.beat_ns)
        store.write(made, tuple(recordings.windows(began_ns, [1.0] * 99)))
    store.close()
    slowest = recordings.polled(path).slowest
    assert slowest.detector.baseline_per_s == pytest.approx(64)
    assert slowest.steps == 990


def test_a_recording_that_cannot_be_read_any_more_loses_nothing_of_what_was_seen(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.sqlite"
    recordings.write(path, STEADY)
    job = recordings.polled(path)
    path.rename(tmp_path / "away")
    assert job.poll()
    path.write_bytes(b"SQLite format 3\0" + bytes(99))
    assert job.poll()
    path.unlink()
    (tmp_path / "away").rename(path)
    assert job.poll()
    assert not job.unread
    path.unlink()
    assert job.poll()
    assert job.workers[0].steps == len(STEADY)
    assert job.unread == {str(path): f"{path}: the recording is gone"}
    assert not job.done(0.0), "its process lives"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_stopped_worker_is_said(tmp_path: Path) -> None:
    import signal

    with subprocess.Popen(["sleep", "60"]) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        path, beat_ns = tmp_path / "a.sqlite", int((time.time() - 20) * NS)
        recordings.write(path, STEADY, silent_s=20, pid=process.pid, beat_ns=beat_ns)
        found = outcomes(tmp_path)["TPU604"].findings
        process.kill()
    assert f"process {process.pid} is stopped by a signal" in found[0].message


def test_workers_that_were_looked_up_again_take_the_place_of_the_old(tmp_path: Path) -> None:
    old, new, begun = tmp_path / "old.sqlite", tmp_path / "new.sqlite", tmp_path / "begun"
    recordings.write(old, [1.0] * 50)
    job = recordings.polled(old)
    begun.write_text("nothing that can be read yet", encoding="utf-8")
    job.follow([str(old)], [str(new), str(begun)])
    assert not job.poll(), "the new ones have only begun to run"
    recordings.write(new, [1.0] * 50)
    assert job.poll()
    assert len(job.workers) == 1
