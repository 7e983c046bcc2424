"""Serves the figures of a watched run for Prometheus."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

from tpudiag.errors import UsageError
from tpudiag.monitoring.alert_rules import escaped
from tpudiag.monitoring.figures import Figures
from tpudiag.monitoring.metrics import COUNTERS, METRICS, cause_of, values
from tpudiag.whole import whole

Worker = tuple[Figures, Mapping[str, bool]]
"""What one worker does, and whether each check fails for it."""
SCRAPES, LAST_S = 2, 130.0
"""How often the end is shown, and for how long that is waited for: two scrapes of a minute."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Prometheus:
    """A server of /metrics in a thread; `show` sets what it answers."""

    def __init__(self, address: str, job: str | None = None) -> None:
        host, port = parsed(address)
        owner, self._job = self, job
        self._workers: dict[tuple[str, str, str], Worker] = {}
        self._scrapes = 0

        class Handler(BaseHTTPRequestHandler):
            """Answers GET /metrics."""

            def do_GET(self) -> None:
                """The figures as they were last shown."""
                if self.path.partition("?")[0] not in ("/", "/metrics"):
                    self.send_error(404)
                    return
                owner._scrapes += 1
                body = exposition(list(owner._workers.values()), owner._job).encode()
                self.send_response(200)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Requests are not news."""

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except (OSError, OverflowError) as error:
            raise UsageError(f"--prometheus {address}: {error}") from error
        # A scraper that keeps its connection open would else hold up the end of the watch.
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def show(self, figures: Figures, alerts: Mapping[str, bool]) -> None:
        """What is answered of this worker from now on."""
        key = (figures.run.name, figures.run.host, figures.worker)
        # A new dict each time: the server's threads go through the old one meanwhile.
        self._workers = {**self._workers, key: (figures, dict(alerts))}

    def close(self) -> str:
        """Stop serving; nothing to say of it.

        Where all runs have ended, and somebody scrapes, not before he has seen it twice.
        """
        if self._workers and all(figures.state.over for figures, _ in self._workers.values()):
            until_s, enough = time.monotonic() + LAST_S, self._scrapes + SCRAPES
            while SCRAPES < enough > self._scrapes and time.monotonic() < until_s:
                time.sleep(0.1)
        self._server.shutdown()
        self._server.server_close()
        return ""


def parsed(address: str) -> tuple[str, int]:
    """`9105`, `0.0.0.0:9105` or `[::1]:9105` as host and port; on loopback unless it says else."""
    host, _, port = address.rpartition(":")
    number = whole(port)
    if number is None or number > 65535:
        raise UsageError(f"--prometheus {address}: not of the form [HOST:]PORT")
    # Loopback unless told otherwise: nothing here asks who reads it.
    return host.strip("[]") or "127.0.0.1", number


def exposition(workers: Sequence[Worker], job: str | None = None) -> str:
    """The figures in Prometheus' text format; what is not known is left out.

    `job` stands for the name of each run. What only grows within a run is a counter, too.
    """
    known = [(_labels(figures, job), values(figures)) for figures, _ in workers]
    rows: list[str] = []
    for metric in METRICS:
        samples = [
            (labels, readings[metric.name]) for labels, readings in known if metric.name in readings
        ]
        rows += _family(f"tpudiag_{metric.name}", "gauge", metric.text, samples)
    for name, text, read in COUNTERS:
        counted = [(_labels(figures, job), read(figures)) for figures, _ in workers]
        samples = [(labels, value) for labels, value in counted if value is not None]
        rows += _family(f"tpudiag_{name}_total", "counter", text, samples)
    states = [
        (f'{_labels(figures, job)},state="{figures.state.kind.value}"', 1) for figures, _ in workers
    ]
    rows += _family("tpudiag_run_state", "gauge", "The state that the run is in", states)
    failing = [
        (f'{_labels(figures, job)}{_cause(figures, id_, on)},id="{id_}"', int(on))
        for figures, alerts in workers
        for id_, on in alerts.items()
    ]
    rows += _family("tpudiag_alert", "gauge", "Whether a check fails", failing, whole=True)
    return "\n".join(rows) + "\n"


def _family(
    name: str,
    type_: Literal["gauge", "counter"],
    text: str,
    samples: Sequence[tuple[str, float]],
    whole: bool = False,
) -> list[str]:
    """The samples of a metric, after what it is; nothing where there is none."""
    if not samples:
        return []
    # repr: the shortest text that gives the same number back. A format such as :g would round a
    # count of steps to six digits.
    rows = [f"{name}{{{labels}}} {value if whole else float(value)!r}" for labels, value in samples]
    return [f"# HELP {name} {text}", f"# TYPE {name} {type_}", *rows]


def _cause(figures: Figures, id_: str, failing: bool) -> str:
    """The label with the cause of a failing check, where it is known."""
    cause = cause_of(figures, id_, failing)
    return f',cause="{escaped(cause)}"' if cause else ""


def _labels(figures: Figures, job: str | None) -> str:
    """Who a sample is of; a worker alone is called by its host."""
    run = figures.run
    worker = figures.worker or run.worker or run.host
    pairs = {"job_name": job or run.name, "host": run.host, "worker": worker, "run_id": run.id}
    return ",".join(f'{name}="{escaped(value)}"' for name, value in pairs.items())
