"""Whose points are whose: jobs of one name on one host, runs of one folder, restarts."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring import recordings
from tpudiag.monitoring.cloud import exporter as exporting
from tpudiag.monitoring.cloud.exporter import Exporter
from tpudiag.monitoring.cloud.resource import PointSource
from tpudiag.monitoring.follower import Watched
from tpudiag.monitoring.metrics import Figures
from tpudiag.monitoring.recording import Run
from tpudiag.monitoring.run_sources import Place
from tpudiag.signals import CauseKind

GONE = 2**22 + 7
"""A pid that no process has."""
Started = Callable[[str], Exporter]


@pytest.fixture(autouse=True)
def _no_metadata(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tpudiag.monitoring.cloud.resource.region", lambda: "")


@pytest.fixture
def started(emulator: Any, monkeypatch: pytest.MonkeyPatch) -> Started:
    """Exporters whose points are sent when they are closed."""
    monkeypatch.setattr(exporting, "UNSEEN_S", 1e9)
    return lambda name: Exporter("p", name, endpoint=emulator.endpoint)


def show(exporter: Exporter, **changed: Any) -> None:
    path = Path("recordings", f"{len(list(Path().glob('recordings/*.sqlite')))}.sqlite")
    path.parent.mkdir(exist_ok=True)
    recordings.write(path, [1.0] * 60, **changed)
    watched = Watched(Place(str(path)).sources()[0])
    watched.poll()
    exporter.show(watched.figures(), {})


def tasks(emulator: Any) -> list[str]:
    return sorted({dict(key[3])["task_id"] for key in emulator.series})


def test_two_jobs_of_one_script_name_on_one_host_share_no_series(
    emulator: Any, started: Started
) -> None:
    for source in ("one/tpudiag-logs", "two/tpudiag-logs"):
        exporter = started(source)
        show(exporter)
        assert "lost" not in exporter.close()
    first, second = tasks(emulator)
    assert first.partition("-")[0] == second.partition("-")[0]
    assert first.startswith(f"{os.uname().nodename}-")
    workers = {dict(key[1])["worker"] for key in emulator.series}
    assert workers == {first, second}


def test_runs_at_once_share_no_series_and_a_restart_goes_on_with_its_own(
    emulator: Any, started: Started
) -> None:
    exporter = started("tpudiag-logs")
    show(exporter, id="first")
    show(exporter, id="beside")
    assert "lost" not in exporter.close()
    once = tasks(emulator)
    assert len(once) == 2
    exporter = started("tpudiag-logs")
    show(exporter, id="killed", pid=GONE)
    show(exporter, id="resumed")
    exporter.close()
    assert tasks(emulator) == once
    assert all(len(points) <= 1 for points in emulator.series.values()), "10 s have not passed"


def test_points_keep_the_name_of_their_own_job(emulator: Any, started: Started) -> None:
    exporter = started("tpudiag-logs")
    show(exporter, id="a", name="pretrain.py", ended_ns=1)
    show(exporter, id="b", name="finetune.py")
    exporter.close()
    jobs = {dict(key[3])["job"] for key in emulator.series}
    assert jobs == {"pretrain.py", "finetune.py"}


def test_a_run_is_free_when_it_is_over() -> None:
    run: Run = recordings.run(60)
    source = PointSource((), ())

    def free(run: Run) -> bool:
        return exporting._Place(run=run, source=source, seen_s=1e18).free  # pyright: ignore

    assert not free(run)
    assert free(replace(run, ended_ns=1))
    assert free(replace(run, pid=GONE))
    assert not free(replace(run, pid=GONE, host="elsewhere"))


def test_alerts_carry_their_cause_and_are_set_back(tmp_path: Path) -> None:
    recordings.write(tmp_path / "a.sqlite", [1.0] * 60)
    figures = recordings.polled(tmp_path / "a.sqlite").slowest.figures()
    slow = replace(figures, cause=CauseKind.INPUT)
    place = exporting._Place(PointSource((), ()), slow.run)  # pyright: ignore

    def shown(figures: Figures, **alerts: bool) -> set[tuple[str, str, float]]:
        points = place.alerts(figures, alerts, 1)
        labels = [(dict(point.source.labels), point.value) for point in points]
        return {(each["check"], each["cause"], value) for each, value in labels}

    assert shown(slow, TPU603=True, TPU201=True, TPU604=False) == {
        ("TPU603", "input", 1.0),
        ("TPU201", "", 1.0),
        ("TPU604", "", 0.0),
    }
    over = {("TPU603", "input", 0.0), ("TPU603", "", 0.0), ("TPU201", "", 0.0)}
    assert shown(slow, TPU603=False, TPU201=False) == over
    assert shown(slow, TPU603=False) == {("TPU603", "", 0.0)}


def test_an_alert_arrives(emulator: Any, started: Started) -> None:
    exporter = started("tpudiag-logs")
    recordings.write(Path("b.sqlite"), [1.0] * 60)
    figures = recordings.polled(Path("b.sqlite")).slowest.figures()
    exporter.show(replace(figures, cause=CauseKind.CHECKPOINT), {"TPU604": True})
    assert "lost" not in exporter.close()
    (key,) = [key for key in emulator.series if key[0].endswith("/alert")]
    assert (dict(key[1])["check"], dict(key[1])["cause"]) == ("TPU604", "checkpoint")
    assert emulator.series[key][0][1] == 1
