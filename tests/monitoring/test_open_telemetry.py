"""What a collector of OpenTelemetry is sent: over HTTP, on loopback."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests import loopback
from tests.monitoring import recordings
from tpudiag.errors import UsageError
from tpudiag.monitoring.open_telemetry import OpenTelemetry
from tpudiag.signals.run_state import RunState, StateKind


@pytest.fixture
def collector() -> Iterator[tuple[str, list[Any]]]:
    """Its URL, and the metrics of each request that it was sent."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
        ExportMetricsServiceRequest,
    )

    got: list[Any] = []

    class Handler(loopback.Handler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            request = ExportMetricsServiceRequest.FromString(body)
            got.append({m.name: m for r in request.resource_metrics for s in r.scope_metrics
                        for m in s.metrics})  # fmt: skip
            self.answer(200, b"")

    with loopback.serving(HTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield f"http://127.0.0.1:{port}/v1/metrics", got


def test_the_end_of_a_run_is_sent_before_the_watch_ends(
    collector: tuple[str, list[Any]], tmp_path: Path
) -> None:
    url, got = collector
    recordings.write(tmp_path / "a.sqlite", [1.0] * 60)
    figures = recordings.polled(tmp_path / "a.sqlite").slowest.figures()
    sent = OpenTelemetry(url, "bert", every_s=3_600)
    sent.show(figures, {"TPU603": True})
    over = RunState(StateKind.COMPLETED, "the run has ended")
    sent.show(replace(figures, state=over), {"TPU603": False})
    assert sent.close() == ""
    last = got[-1]
    (steps,) = last["tpudiag.steps"].sum.data_points
    assert last["tpudiag.steps"].sum.is_monotonic
    assert steps.as_double or steps.as_int == 60
    (ended,) = last["tpudiag.run_ended"].gauge.data_points
    assert (ended.as_int, ended.as_double) in {(1, 0.0), (0, 1.0)}
    labels = {pair.key: pair.value.string_value for pair in ended.attributes}
    assert (labels["job_name"], labels["host"]) == ("bert", figures.run.host)
    assert {"tpudiag.goodput_time_seconds", "tpudiag.step_time_p50_ms", "tpudiag.alert"} <= {*last}


def test_a_collector_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    recordings.write(tmp_path / "a.sqlite", [1.0] * 60)
    job = recordings.polled(tmp_path / "a.sqlite")
    sent = OpenTelemetry("http://127.0.0.1:9/v1/metrics", every_s=3_600, call_s=0.3)
    sent.show(job.slowest.figures(), {})
    said = sent.close()
    assert said.startswith("--otlp http://127.0.0.1:9/v1/metrics: ")
    assert "\n" not in said


def test_what_is_no_url_is_refused() -> None:
    with pytest.raises(UsageError, match="not of the form"):
        OpenTelemetry("localhost:4318")
