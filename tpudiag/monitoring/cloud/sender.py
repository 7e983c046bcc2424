"""Sends spooled points to Cloud Monitoring by its rules, through outages."""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from tpudiag.monitoring.cloud.connection import error_line
from tpudiag.monitoring.cloud.resource import RESOURCE, PointSource
from tpudiag.monitoring.cloud.spool import Point, Spool
from tpudiag.monitoring.metrics import METRICS, Metric
from tpudiag.monitoring.recording import NS

PREFIX = "custom.googleapis.com/tpudiag/"
SERIES_A_CALL = 200
APART_S, WIDEST_APART_S = 5.0, 60.0
"""Least time between two points of a series; raised to a minute where the service wants it."""
OLDEST_S = 24 * 3600.0
"""The service takes points up to 25 hours old."""
CALL_S = 12.0
FIRST_RETRY_S, FIRST_REFUSED_RETRY_S, LONGEST_RETRY_S = 1.0, 10.0, 60.0
"""A new permission takes about a minute to be known everywhere."""
IDLE_S = 5.0
LABELS = ("training_job", "worker")
ALERT, ALERT_LABELS = "alert", ("check", "cause")
"""Whether a check fails, 0 or 1; the cause is empty where it passes or is unknown."""
IN_DOUBT = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "UNKNOWN", "ABORTED", "CANCELLED")
"""Errors after which a point may have been written nevertheless."""
NOT_WRITTEN = ("RESOURCE_EXHAUSTED",)
TOO_OFTEN = "more frequently"
HAD_ALREADY = ("order", "frequent", "older end time")


class Sender:
    """Takes points from the spool, one call per step; `clock` returns seconds since the epoch."""

    def __init__(
        self,
        spool: Spool,
        client: Any,
        project: str,
        clock: Callable[[], float] = time.time,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._spool, self._client, self._project = spool, client, f"projects/{project}"
        self._clock, self._tell = clock, tell
        self._described = False
        self._apart_s = APART_S
        self._last_sent: dict[tuple[PointSource, str], float] = {}
        self._slowed: set[Point] = set()
        """Points in doubt because they came too often, not because an answer was lost."""
        self._retry_s = FIRST_RETRY_S
        self.failure: str | None = None

    def step(self) -> float:
        """Make the next call; returns the wait before the next step, in s."""
        from google.api_core.exceptions import GoogleAPICallError

        now = self._clock()
        self._spool.drop_before(int((now - OLDEST_S) * NS))
        points = self._due(now)
        if not points:
            return IDLE_S
        try:
            if not self._described:
                describe(self._client, self._project)
                self._described = True
        except GoogleAPICallError as error:
            return self._later(error)
        # Stored before the call: if the process dies in it, the next one knows that these may have
        # been written.
        self._spool.mark(points, under_way=True)
        try:
            self._client.create_time_series(
                name=self._project,
                time_series=[time_series(point) for point in points],
                timeout=CALL_S,
                # No retries by the client: the spool would not know of a second try, and its point
                # would look like somebody else's.
                retry=None,
            )
        except GoogleAPICallError as error:
            return self._failed(points, error)
        return self._sent(points, len(points))

    def _due(self, now: float) -> list[Point]:
        """The points that may be sent now; those in doubt are sent apart from others."""
        points = [
            point
            for point in self._spool.due()
            if now - self._last_sent.get(point.series, 0.0) >= self._apart_s
        ]
        # A point written before fails the call as out of order, and with it the call's new points.
        doubtful = [point for point in points if point.again]
        return (doubtful or points)[:SERIES_A_CALL]

    def _sent(self, points: list[Point], accepted: int) -> float:
        now = self._clock()
        self._spool.done(points, accepted, "refused")
        self._last_sent.update((point.series, now) for point in points)
        if self.failure is not None and accepted:
            self._tell("Cloud Monitoring takes points again")
            self.failure = None
        self._retry_s = FIRST_RETRY_S
        return 0.0 if self._due(now) else self._apart_s

    def _failed(self, points: list[Point], error: Any) -> float:
        """Handle a failed call: find out which points were written."""
        code = error.grpc_status_code.name if error.grpc_status_code else "UNKNOWN"
        if code in ("INVALID_ARGUMENT", "OUT_OF_RANGE", "FAILED_PRECONDITION"):
            accepted = min(_written(error), len(points))
            # After a lost answer the service complains of our own first try, too: only points
            # slowed on purpose prove too high a rate.
            known = self._slowed.issuperset(points) if points[0].again else True
            if TOO_OFTEN in str(error) and known and self._apart_s < WIDEST_APART_S:
                return self._slower(points)
            if points[0].again and any(word in str(error) for word in HAD_ALREADY):
                accepted = len(points)  # written by our own earlier call
            if accepted < len(points):
                self._say(f"{len(points) - accepted} points were refused: {error_line(error)}")
            return self._sent(points, accepted)
        if code not in IN_DOUBT:
            # Earlier doubts remain: this call's failure proves nothing of the earlier one.
            self._spool.mark([point for point in points if not point.again], under_way=False)
        return self._later(error)

    def _slower(self, points: list[Point]) -> float:
        """Points came too often: send the same again, in doubt, and further apart."""
        self._apart_s = min(2 * self._apart_s, WIDEST_APART_S)
        now = self._clock()
        self._last_sent.update((point.series, now) for point in points)
        self._slowed = {replace(point, again=True) for point in points}
        return 0.0 if self._due(now) else self._apart_s

    def _later(self, error: Any) -> float:
        """As far as known nothing was written: keep the points, and wait longer each time."""
        code = error.grpc_status_code.name if error.grpc_status_code else "UNKNOWN"
        self._say(f"not reached, points are kept on disk: {error_line(error)}")
        if code not in (*IN_DOUBT, *NOT_WRITTEN):
            self._retry_s = max(self._retry_s, FIRST_REFUSED_RETRY_S)
        # Hundreds of workers of a pod lose the service at the same moment: spread their retries.
        wait_s = self._retry_s * random.uniform(0.5, 1.0)
        self._retry_s = min(2 * self._retry_s, LONGEST_RETRY_S)
        return wait_s

    def _say(self, what: str) -> None:
        """Report a new problem once."""
        if self.failure is None or self.failure.partition(":")[0] != what.partition(":")[0]:
            self._tell(f"Cloud Monitoring: {what}")
        self.failure = what


def time_series(point: Point) -> Any:
    """A point as the API has it."""
    from google.cloud import monitoring_v3

    seconds, nanos = divmod(point.end_ns, NS)
    whole = {ALERT, *(metric.name for metric in METRICS if metric.whole)}
    kind = "int64_value" if point.metric in whole else "double_value"
    value = int(point.value) if point.metric in whole else point.value
    source = point.source
    return monitoring_v3.TimeSeries(
        {
            "metric": {"type": PREFIX + point.metric, "labels": dict(source.labels)},
            "resource": {"type": RESOURCE, "labels": dict(source.resource)},
            "points": [
                {
                    "interval": {"end_time": {"seconds": seconds, "nanos": nanos}},
                    "value": {kind: value},
                }
            ],
        }
    )


def describe(client: Any, project: str) -> None:
    """Create the metric descriptors; existing ones stay unchanged."""
    metric_pb2: Any = import_module("google.api.metric_pb2")
    label_pb2: Any = import_module("google.api.label_pb2")
    from google.api_core.exceptions import AlreadyExists

    alert = Metric(ALERT, "1", "Whether a check fails", lambda _: None, True)
    for metric in (*METRICS, alert):
        kind = metric_pb2.MetricDescriptor
        names = (*LABELS, *ALERT_LABELS) if metric is alert else LABELS
        descriptor = kind(
            type=PREFIX + metric.name,
            metric_kind=kind.GAUGE,
            value_type=kind.INT64 if metric.whole else kind.DOUBLE,
            unit=metric.unit,
            description=metric.text,
            display_name=f"tpudiag {metric.name.replace('_', ' ')}",
            labels=[label_pb2.LabelDescriptor(key=name) for name in names],
        )
        try:
            client.create_metric_descriptor(
                name=project, metric_descriptor=descriptor, timeout=CALL_S, retry=None
            )
        except AlreadyExists:
            continue


def _written(error: Any) -> int:
    """The number of points of a refused call that were written nevertheless."""
    from google.cloud import monitoring_v3

    # The count stands in a detail of the error.
    for detail in getattr(error, "details", None) or ():
        if str(getattr(detail, "type_url", "")).endswith(".CreateTimeSeriesSummary"):
            summary: Any = monitoring_v3.CreateTimeSeriesSummary.deserialize(detail.value)
            return int(summary.success_point_count)
    return 0
