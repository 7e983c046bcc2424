"""Sends the watched figures to Cloud Monitoring, in a thread of its own."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tpudiag.errors import UsageError
from tpudiag.monitoring.cloud.connection import Service, client
from tpudiag.monitoring.cloud.resource import PointSource, point_source
from tpudiag.monitoring.cloud.sender import ALERT, Sender
from tpudiag.monitoring.cloud.spool import LOST, Point, Spool
from tpudiag.monitoring.metrics import Figures, cause_of, values
from tpudiag.monitoring.recording import NS, Run
from tpudiag.printing import say

LEAST_PERIOD_S = 10.0
PERIOD_S = 30.0
CLOSE_S = 10.0
UNSEEN_S = 120.0
"""A run not shown for so long counts as over."""


class Exporter:
    """Keeps a point of each figure every period on disk, and sends them in the background.

    `job` None is the name of the run.
    """

    def __init__(
        self, project: str, source: str, *, job: str | None = None, period_s: float = PERIOD_S,
        endpoint: str | None = None, buffer: Path | None = None,
    ) -> None:  # fmt: skip
        if period_s < LEAST_PERIOD_S:
            raise UsageError(f"--period {period_s:g}: never below {LEAST_PERIOD_S:g} s")
        self._project, self._job, self._period_s = project, job, period_s
        self._key = source_key(source)
        key = source_key(source, f"{project} ", 10)
        self._path = buffer or Path("tpudiag-logs", f"cloud-monitoring-{key}.buffer")
        metrics = client(Service.METRICS, endpoint)
        self._spool = Spool(self._path)
        self._before = self._spool.counts
        self._sender = Sender(self._spool, metrics, project, tell=say)
        self._places: dict[tuple[str, str], list[_Place]] = {}
        self._not_kept = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="tpudiag-cloud", daemon=True)

    def show(self, figures: Figures, alerts: Mapping[str, bool]) -> None:
        """Take a run's current figures; kept once per period."""
        place = self._place(figures.run)
        place.last = figures, alerts
        if time.monotonic() >= place.due_s:
            self._keep(place, figures, alerts)

    def _keep(self, place: _Place, figures: Figures, alerts: Mapping[str, bool]) -> None:
        place.due_s, place.last = time.monotonic() + self._period_s, None
        end_ns = time.time_ns() // 1_000_000 * 1_000_000
        points = [
            Point(place.source, name, end_ns, float(value))
            for name, value in values(figures).items()
        ]
        points += place.alerts(figures, alerts, end_ns)
        try:
            self._spool.add(points, int(LEAST_PERIOD_S * NS))
        except sqlite3.Error as error:
            if not self._not_kept:
                say(f"{self._path}: points cannot be kept: {error}")
            self._not_kept += len(points)
        # Not before there is a point: watching a job that never starts must not contact Google.
        if self._thread.ident is None:
            self._thread.start()

    def _place(self, run: Run) -> _Place:
        """The series that a run writes to: that of an ended run, or one of its own.

        So a restarted job continues its series, and two concurrent ones share none.
        """
        job, host = self._job or run.name, run.host or os.uname().nodename
        places = self._places.setdefault((job, host), [])
        place = next((place for place in places if place.run.id == run.id), None)
        if place is None:
            place = next((place for place in places if place.free), None)
        if place is None:
            # Two concurrent runs of one job on one host: without a number their points would
            # alternate in one series, and the service refuses points out of order.
            number = f"-{len(places) + 1}" if places else ""
            # This process's environment does not describe a run on another machine.
            here: Mapping[str, str] = os.environ if host == os.uname().nodename else {}
            worker = here.get("TPU_WORKER_ID") or here.get("CLOUD_TPU_TASK_ID")
            task = f"{f'worker-{worker}' if worker else host}-{self._key}{number}"
            place = _Place(point_source(self._project, job, task), run)
            places.append(place)
        place.run, place.seen_s = run, time.monotonic()
        return place

    def close(self) -> str:
        """Send what can be sent within some seconds; returns the points' fate as a sentence."""
        for place in [place for places in self._places.values() for place in places]:
            # The final state of a run that is over, which shows that it ended well.
            if place.last is not None and place.last[0].state.over:
                at_s = place.due_s - self._period_s + LEAST_PERIOD_S
                time.sleep(min(max(at_s - time.monotonic(), 0.0), LEAST_PERIOD_S))
                self._keep(place, *place.last)
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_S + 2)
        # Points accepted, waiting and lost since the watch began.
        counts, waiting = self._spool.counts, self._spool.waiting
        if not self._thread.is_alive():
            self._spool.close()
        new = {what: count - self._before.get(what, 0) for what, count in counts.items()}
        parts = [f"{new.get('accepted', 0)} points accepted"]
        parts += [f"{waiting} waiting in {self._path}"] if waiting else []
        parts += [f"{new[what]} lost ({what})" for what in LOST if new.get(what)]
        parts += [f"{self._not_kept} lost (not kept on disk)"] if self._not_kept else []
        failure = self._sender.failure
        return f"Cloud Monitoring: {', '.join(parts)}" + (f"; {failure}" if failure else "") + "."

    def _work(self) -> None:
        """Send until the end, then what can be sent within some seconds."""
        delay_s = 0.0
        while not self._stop.wait(delay_s):
            delay_s = self._step()
        end = time.monotonic() + CLOSE_S
        while self._spool.waiting:
            delay_s = self._step()
            if self._sender.failure is not None or time.monotonic() + delay_s > end:
                break
            time.sleep(delay_s if self._spool.waiting else 0.0)

    def _step(self) -> float:
        """One step of the sender; reports an unexpected error and continues."""
        try:
            return self._sender.step()
        except Exception as error:
            # Otherwise the thread would end silently, and the points would stay on disk.
            say(f"Cloud Monitoring: {type(error).__name__}: {error}")
            return 60.0


@dataclass
class _Place:
    """A place for the points of one run at a time."""

    source: PointSource
    run: Run
    due_s: float = 0.0
    last: tuple[Figures, Mapping[str, bool]] | None = None
    """The figures shown since the last point."""
    seen_s: float = 0.0
    raised: set[PointSource] = field(default_factory=set[PointSource])

    def alerts(self, figures: Figures, alerts: Mapping[str, bool], end_ns: int) -> list[Point]:
        """Whether each check fails, with its cause; alerts that are over are set to 0."""
        now = {
            self.source.marked(check=id_, cause=cause_of(figures, id_, on)): on
            for id_, on in alerts.items()
        }
        # A changed cause is another series: the old one would stay at 1 for ever.
        over = dict.fromkeys(self.raised - now.keys(), False)
        self.raised = {source for source, on in now.items() if on}
        return [Point(at, ALERT, end_ns, float(on)) for at, on in {**over, **now}.items()]

    @property
    def free(self) -> bool:
        """Whether the run that used it is over, as far as known."""
        here = self.run.pid > 0 and self.run.host == os.uname().nodename
        gone = here and not Path("/proc", str(self.run.pid)).exists()
        unseen = time.monotonic() - self.seen_s > UNSEEN_S
        return gone or unseen or self.run.ended_ns is not None


def source_key(source: str, project: str = "", length: int = 8) -> str:
    """A stable key that distinguishes sources of runs on this host."""
    where = source if "://" in source else str(Path(source).absolute())
    return hashlib.sha1(f"{project}{where}".encode()).hexdigest()[:length]
