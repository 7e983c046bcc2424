"""Sends the figures of a watched run to a collector of OpenTelemetry, by OTLP over HTTP."""

import logging
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from tpudiag.errors import UsageError
from tpudiag.monitoring.metrics import Figures, Worker, samples

EVERY_S, CALL_S = 15.0, 5.0
INSTALL = "pip install 'tpudiag[otlp]'"


class OpenTelemetry:
    """Sends the figures shown last periodically, and once more at the end."""

    def __init__(
        self, url: str, job: str | None = None, every_s: float = EVERY_S, call_s: float = CALL_S
    ) -> None:
        try:
            metrics: Any = import_module("opentelemetry.sdk.metrics")
            export: Any = import_module("opentelemetry.sdk.metrics.export")
            http: Any = import_module("opentelemetry.exporter.otlp.proto.http.metric_exporter")
            resources: Any = import_module("opentelemetry.sdk.resources")
            self._observation: Any = import_module("opentelemetry.metrics").Observation
        except ImportError as error:
            raise UsageError(f"--otlp {url}: needs OpenTelemetry's SDK: {INSTALL}") from error
        if not url.startswith(("http://", "https://")):
            raise UsageError(f"--otlp {url}: not of the form http://HOST:PORT/v1/metrics")
        self._job, self._url, self._call_s = job, url, call_s
        self._workers: dict[tuple[str, str, str], Worker] = {}
        self._known: set[str] = set()
        self._failed = _Said()
        logging.getLogger("opentelemetry").addHandler(self._failed)
        logging.getLogger("opentelemetry").propagate = False
        reader = export.PeriodicExportingMetricReader(
            http.OTLPMetricExporter(endpoint=url, timeout=call_s),
            export_interval_millis=1e3 * every_s,
        )
        self._provider: Any = metrics.MeterProvider(
            [reader], resources.Resource.create({"service.name": "tpudiag"})
        )
        self._meter: Any = self._provider.get_meter("tpudiag")

    def show(self, figures: Figures, alerts: Mapping[str, bool]) -> None:
        """Set a worker's figures."""
        key = (figures.run.name, figures.run.host, figures.worker)
        self._workers = {**self._workers, key: (figures, dict(alerts))}
        for sample in samples([(figures, alerts)], self._job):
            if sample.name not in self._known:
                self._known.add(sample.name)
                kind = "counter" if sample.counter else "gauge"
                getattr(self._meter, f"create_observable_{kind}")(
                    f"tpudiag.{sample.name}",
                    callbacks=[self._reading(sample.name)],
                    unit=sample.unit,
                    description=sample.text,
                )

    def _reading(self, name: str) -> Callable[[Any], Iterator[Any]]:
        """A callback that returns a metric's known values."""
        return lambda _: (
            self._observation(sample.value, sample.labels)
            for sample in samples(self._workers.values(), self._job)
            if sample.name == name
        )

    def close(self) -> str:
        """Send the end; returns what went wrong, if anything."""
        self._provider.shutdown(timeout_millis=1e3 * self._call_s)
        logging.getLogger("opentelemetry").removeHandler(self._failed)
        return f"--otlp {self._url}: {self._failed.text}" if self._failed.text else ""


class _Said(logging.Handler):
    """Keeps the library's last error, which it would otherwise print at each try."""

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        """In one line."""
        self.text = " ".join(record.getMessage().split())[:300]
