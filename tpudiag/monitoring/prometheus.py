"""Serves the figures of a watched run for Prometheus, as text or as OpenMetrics."""

import time
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from tpudiag.bounded_numbers import whole
from tpudiag.errors import UsageError
from tpudiag.monitoring.metrics import Figures, Worker, samples

SCRAPES, LAST_S = 2, 130.0
"""How often the end is shown, and how long to wait for that: two scrapes per minute."""
Family = CounterMetricFamily | GaugeMetricFamily


class Prometheus(Collector):
    """A server of /metrics in a thread; `show` sets its answer."""

    def __init__(self, address: str, job: str | None = None) -> None:
        host, port = parsed(address)
        self._job, self._scrapes = job, 0
        self._workers: dict[tuple[str, str, str], Worker] = {}
        registry = CollectorRegistry()
        registry.register(self)
        try:
            self._server, _ = start_http_server(port, host, registry)
        except (OSError, OverflowError) as error:
            raise UsageError(f"--prometheus {address}: {error}") from error

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_port)

    def show(self, figures: Figures, alerts: Mapping[str, bool]) -> None:
        """Set a worker's figures."""
        key = (figures.run.name, figures.run.host, figures.worker)
        # A new dict each time, since the server's threads may iterate over the old one.
        self._workers = {**self._workers, key: (figures, dict(alerts))}

    def describe(self) -> list[Family]:
        """Nothing: the families depend on what is known."""
        return []

    def collect(self) -> Iterator[Family]:
        """The figures shown last, without unknown ones."""
        self._scrapes += 1
        families: dict[str, Family] = {}
        for sample in samples(self._workers.values(), self._job):
            family = families.get(sample.name)
            if family is None:
                kind = CounterMetricFamily if sample.counter else GaugeMetricFamily
                family = kind(f"tpudiag_{sample.name}", sample.text, labels=[*sample.labels])
                families[sample.name] = family
            family.add_metric([*sample.labels.values()], sample.value)
        yield from families.values()

    def close(self) -> str:
        """Stop serving; always an empty message.

        Where all runs have ended and a scraper is active, wait until it has seen the end twice.
        """
        if self._workers and all(figures.state.over for figures, _ in self._workers.values()):
            until_s, enough = time.monotonic() + LAST_S, self._scrapes + SCRAPES
            while SCRAPES < enough > self._scrapes and time.monotonic() < until_s:
                time.sleep(0.1)
        self._server.shutdown()
        self._server.server_close()
        return ""


def parsed(address: str) -> tuple[str, int]:
    """`9105`, `0.0.0.0:9105` or `[::1]:9105` as host and port; loopback by default."""
    host, _, port = address.rpartition(":")
    number = whole(port)
    if number is None or number > 65535:
        raise UsageError(f"--prometheus {address}: not of the form [HOST:]PORT")
    # Loopback by default: readers are not authenticated.
    return host.strip("[]") or "127.0.0.1", number
