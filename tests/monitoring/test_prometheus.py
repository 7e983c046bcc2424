"""What Prometheus is served: gauges, counters, and whose they are."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from urllib.request import urlopen

from tpudiag.monitoring.figures import Figures
from tpudiag.monitoring.prometheus import Prometheus, exposition
from tpudiag.monitoring.watched_job import WatchedJob
from tpudiag.signals import CauseKind
from tpudiag.signals.run_state import RunState, StateKind


def figures(recordings: ModuleType, folder: Path, **changed: object) -> Figures:
    recordings.write(folder / "a.sqlite", [1.0] * 60, **changed)
    job = WatchedJob([str(folder / "a.sqlite")])
    job.poll()
    return job.slowest.figures()


def test_counters_stand_beside_the_gauges(recordings: ModuleType, tmp_path: Path) -> None:
    text = exposition([(figures(recordings, tmp_path, id="r1", lost_steps=3), {"TPU603": True})])
    rows = text.splitlines()
    assert "# TYPE tpudiag_steps gauge" in rows
    for name, value in (("steps", 60), ("examples", 60 * 64), ("lost_steps", 3)):
        assert f"# TYPE tpudiag_{name}_total counter" in rows
        (row,) = [row for row in rows if row.startswith(f"tpudiag_{name}_total{{")]
        assert float(row.rpartition(" ")[2]) == value
        assert 'run_id="r1"' in row
    names = [row.split()[2] for row in rows if row.startswith("# TYPE")]
    assert len(names) == len(set(names))


def test_each_sample_says_whose_it_is(recordings: ModuleType, tmp_path: Path) -> None:
    one = figures(recordings, tmp_path, id="r1", worker="worker 3", name="train.py")
    over = RunState(StateKind.COMPLETED, "the run has ended")
    two = replace(one, worker="b", state=over, run=replace(one.run, id="r2"))
    text = exposition([(one, {}), (two, {"TPU604": False})], job="bert")
    samples = [row for row in text.splitlines() if row.startswith("tpudiag_")]
    assert all('job_name="bert",host="' in row for row in samples)
    assert {row.partition('worker="')[2].partition('"')[0] for row in samples} == {"worker 3", "b"}
    ended = {row for row in samples if row.startswith("tpudiag_run_ended{")}
    assert {row.partition('run_id="')[2] for row in ended} == {'r1"} 0.0', 'r2"} 1.0'}


def test_the_next_run_takes_the_place_of_the_last(recordings: ModuleType, tmp_path: Path) -> None:
    server = Prometheus("127.0.0.1:0")
    try:
        first = figures(recordings, tmp_path, id="r1")
        server.show(first, {})
        server.show(replace(first, run=replace(first.run, id="r2")), {})
        text = exposition(list(server._workers.values()))  # pyright: ignore[reportPrivateUsage]
    finally:
        server.close()
    assert 'run_id="r2"' in text
    assert 'run_id="r1"' not in text


def test_an_alert_carries_its_cause(recordings: ModuleType, tmp_path: Path) -> None:
    slow = replace(figures(recordings, tmp_path), cause=CauseKind.INPUT)
    rows = exposition([(slow, {"TPU603": True, "TPU604": False, "TPU201": True})]).splitlines()
    alerts = [row for row in rows if row.startswith("tpudiag_alert{")]
    assert [('cause="input"' in row, row.partition(",id=")[2]) for row in alerts] == [
        (True, '"TPU603"} 1'),
        (False, '"TPU604"} 0'),
        (False, '"TPU201"} 1'),
    ]


def test_the_end_of_a_run_is_shown_to_whoever_scrapes(
    recordings: ModuleType, tmp_path: Path
) -> None:
    server = Prometheus("127.0.0.1:0")
    one = figures(recordings, tmp_path)
    over = RunState(StateKind.COMPLETED, "the run has ended")
    server.show(replace(one, state=over), {})
    seen: list[str] = []

    def scrape() -> None:
        with urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=10) as answer:
            seen.append(answer.read().decode())

    scrape()
    closing = threading.Thread(target=server.close)
    closing.start()
    while closing.is_alive():
        with suppress(OSError):  # closed since
            scrape()
        closing.join(0.3)
    assert len(seen) >= 3
    assert all('state="completed"' in text and "tpudiag_run_ended{" in text for text in seen)
