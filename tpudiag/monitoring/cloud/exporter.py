"""Sends what is watched to Cloud Monitoring, in a thread of its own."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tpudiag.errors import UsageError
from tpudiag.monitoring.cloud.connection import metric_client
from tpudiag.monitoring.cloud.resource import resource, worker
from tpudiag.monitoring.cloud.sender import Sender
from tpudiag.monitoring.cloud.spool import LOST, Point, Spool
from tpudiag.monitoring.follower import Figures
from tpudiag.monitoring.metrics import values
from tpudiag.monitoring.recording import NS

LEAST_PERIOD_S = 10.0
PERIOD_S = 30.0
CLOSE_S = 10.0
RESOURCES = ("generic_task", "k8s_container", "gce_instance")


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Where metrics go, and how often; `job` None is the name of the run."""

    project: str
    job: str | None = None
    resource: str = "generic_task"
    period_s: float = PERIOD_S
    endpoint: str | None = None
    buffer: Path | None = None


class Exporter:
    """Keeps a point of each figure every period on disk, and sends them in the background."""

    def __init__(self, destination: Destination, source: str) -> None:
        if destination.period_s < LEAST_PERIOD_S:
            raise UsageError(f"--period {destination.period_s:g}: never below {LEAST_PERIOD_S:g} s")
        self._to = destination
        self._client = metric_client(destination.endpoint)
        self._path = destination.buffer or default_buffer(destination.project, source)
        self._spool = Spool(self._path)
        self._before = self._spool.counts
        self._sender: Sender | None = None
        self._due, self._not_kept = 0.0, 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="tpudiag-cloud", daemon=True)

    def show(self, figures: Figures, alerts: Mapping[str, bool]) -> None:  # noqa: ARG002
        """The figures as they are now; kept where a period has passed."""
        if self._sender is None:
            self._start(figures)
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + self._to.period_s
        end_ns = time.time_ns() // 1_000_000 * 1_000_000
        points = [Point(name, end_ns, float(value)) for name, value in values(figures).items()]
        try:
            self._spool.add(points, int(LEAST_PERIOD_S * NS))
        except sqlite3.Error as error:
            if not self._not_kept:
                _tell(f"{self._path}: points cannot be kept: {error}")
            self._not_kept += len(points)

    def close(self) -> str:
        """Send what can be sent within some seconds; what became of the points, in a sentence."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_S + 2)
        summary = self.summary()
        if not self._thread.is_alive():
            self._spool.close()
        return summary

    def summary(self) -> str:
        """Points accepted, waiting and lost since the watch began."""
        counts, waiting = self._spool.counts, self._spool.waiting
        new = {what: count - self._before.get(what, 0) for what, count in counts.items()}
        said = [f"{new.get('accepted', 0)} points accepted"]
        said += [f"{waiting} waiting in {self._path}"] if waiting else []
        said += [f"{new[what]} lost ({what})" for what in LOST if new.get(what)]
        said += [f"{self._not_kept} lost (not kept on disk)"] if self._not_kept else []
        failure = self._sender.failure if self._sender is not None else None
        return f"Cloud Monitoring: {', '.join(said)}" + (f"; {failure}" if failure else "") + "."

    def _start(self, figures: Figures) -> None:
        """The run is known: its name and host make the resource."""
        job, host = self._to.job or figures.run.name, figures.run.host or os.uname().nodename
        self._sender = Sender(
            self._spool, self._client, self._to.project,
            resource(self._to.project, job, host, self._to.resource),
            {"training_job": job, "worker": worker(os.environ, host)},
            tell=_tell,
        )  # fmt: skip
        self._thread.start()

    def _work(self) -> None:
        """Step after step until the end, then what can be sent at once."""
        delay_s = 0.0
        while not self._stop.wait(delay_s):
            delay_s = self._step()
        end = time.monotonic() + CLOSE_S
        while time.monotonic() < end and self._spool.waiting and self._step() == 0.0:
            continue

    def _step(self) -> float:
        """One step of the sender; an error of its own is said, and it goes on."""
        assert self._sender is not None
        try:
            return self._sender.step()
        except Exception as error:
            _tell(f"Cloud Monitoring: {type(error).__name__}: {error}")
            return 60.0


def default_buffer(project: str, source: str) -> Path:
    """The file that keeps points of a source for a project until they are sent."""
    where = source if "://" in source else str(Path(source).absolute())
    key = hashlib.sha1(f"{project} {where}".encode()).hexdigest()[:10]
    return Path("tpudiag-logs", f"cloud-monitoring-{key}.buffer")


def _tell(what: str) -> None:
    """On stderr."""
    print(f"tpudiag: {what}", file=sys.stderr, flush=True)
