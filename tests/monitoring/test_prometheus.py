"""What Prometheus is served: gauges, counters, and whose they are."""

import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from prometheus_client.openmetrics import parser as open_metrics
from prometheus_client.parser import text_string_to_metric_families as text_string_to_families

from tests.monitoring import recordings
from tpudiag.monitoring.ledger import TimeUse
from tpudiag.monitoring.metrics import Figures, Worker
from tpudiag.monitoring.prometheus import Prometheus
from tpudiag.signals import CauseKind
from tpudiag.signals.run_state import RunState, StateKind


def figures(folder: Path, **changed: Any) -> Figures:
    recordings.write(folder / "a.sqlite", [1.0] * 60, **changed)
    return recordings.polled(folder / "a.sqlite").slowest.figures()


def text_of(*workers: Worker, job: str | None = None, accept: str = "") -> str:
    server = Prometheus("127.0.0.1:0", job)
    try:
        for figures, alerts in workers:
            server.show(figures, alerts)
        return scraped(server, accept)
    finally:
        server._workers = {}  # pyright: ignore[reportPrivateUsage]
        server.close()


def scraped(server: Prometheus, accept: str = "") -> str:
    request = Request(f"http://127.0.0.1:{server.port}/metrics", headers={"Accept": accept})
    with urlopen(request, timeout=100) as answer:
        text: str = answer.read().decode()
        return text


def test_what_only_grows_is_a_counter(tmp_path: Path) -> None:
    rows = text_of((figures(tmp_path, id="r1", lost_steps=3), {"TPU603": True})).splitlines()
    for name, value in (("steps", 60), ("examples", 60 * 64), ("lost_steps", 3)):
        assert f"# TYPE tpudiag_{name}_total counter" in rows
        (row,) = [row for row in rows if row.startswith(f"tpudiag_{name}_total{{")]
        assert float(row.rpartition(" ")[2]) == value
        assert 'run_id="r1"' in row


def test_it_is_open_metrics_for_whoever_asks(tmp_path: Path) -> None:
    spent = {TimeUse.STEPS: 55.0, TimeUse.DOWN: 5.0}
    shown = replace(figures(tmp_path), spent=spent), {"TPU603": False}
    text = text_of(shown, accept="application/openmetrics-text; version=1.0.0")
    parsed: Any = open_metrics
    families = {family.name: family for family in parsed.text_string_to_metric_families(text)}
    assert families["tpudiag_steps"].type == "counter"
    assert text.endswith("# EOF\n")
    (productive,) = families["tpudiag_goodput_time_seconds"].samples
    (down,) = families["tpudiag_badput_time_seconds"].samples
    assert (productive.value, down.value, down.labels["badput_source"]) == (55.0, 5.0, "down")


def test_each_sample_says_whose_it_is(tmp_path: Path) -> None:
    one = figures(tmp_path, id="r1", worker="worker 3", name="train.py")
    over = RunState(StateKind.COMPLETED, "the run has ended")
    two = replace(one, worker="b", state=over, run=replace(one.run, id="r2"))
    samples = [
        sample
        for family in text_string_to_families(
            text_of((one, {}), (two, {"TPU604": False}), job="bert")
        )
        for sample in family.samples
    ]
    assert all(sample.labels["job_name"] == "bert" for sample in samples)
    assert {sample.labels["worker"] for sample in samples} == {"worker 3", "b"}
    ended = [sample for sample in samples if sample.name == "tpudiag_run_ended"]
    assert {(one.labels["run_id"], one.value) for one in ended} == {("r1", 0.0), ("r2", 1.0)}


def test_the_next_run_takes_the_place_of_the_last(tmp_path: Path) -> None:
    first = figures(tmp_path, id="r1")
    text = text_of((first, {}), (replace(first, run=replace(first.run, id="r2")), {}))
    assert 'run_id="r2"' in text
    assert 'run_id="r1"' not in text


def test_an_alert_carries_its_cause(tmp_path: Path) -> None:
    slow = replace(figures(tmp_path), cause=CauseKind.INPUT)
    text = text_of((slow, {"TPU603": True, "TPU604": False, "TPU201": True}))
    (family,) = [f for f in text_string_to_families(text) if f.name == "tpudiag_alert"]
    assert {(one.labels["id"], one.labels["cause"], one.value) for one in family.samples} == {
        ("TPU603", "input", 1.0),
        ("TPU604", "", 0.0),
        ("TPU201", "", 1.0),
    }


def test_the_end_of_a_run_is_shown_to_whoever_scrapes(tmp_path: Path) -> None:
    server = Prometheus("127.0.0.1:0")
    one = figures(tmp_path)
    over = RunState(StateKind.COMPLETED, "the run has ended")
    server.show(replace(one, state=over), {})
    seen: list[str] = []

    def scrape() -> None:
        seen.append(scraped(server))

    scrape()
    closing = threading.Thread(target=server.close)
    closing.start()
    while closing.is_alive():
        with suppress(OSError):  # closed since
            scrape()
        closing.join(0.3)
    assert len(seen) >= 3
    assert all('state="completed"' in text and "tpudiag_run_ended{" in text for text in seen)
