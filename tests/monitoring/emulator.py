"""Cloud Monitoring on loopback: real gRPC, the service's documented rules, faults on demand.

Nothing here was compared with the real service beyond its documentation and error texts that
users reported (python-monitoring#57, prometheus-engine#823, slo-generator#98).
"""

import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import empty_pb2

from tests.monitoring.wire import SERVICES, Refused, api, boards, grpc, handlers, refuse

SERIES_A_CALL = 200
SAMPLING_S = 5.0
OLDEST_S, NEWEST_S = 25 * 3600.0, 300.0
LABELS, KEY_LENGTH, VALUE_LENGTH = 30, 100, 1024
RESOURCES = {
    "generic_task": {"project_id", "location", "namespace", "job", "task_id"},
    "k8s_container": {
        "project_id",
        "location",
        "cluster_name",
        "namespace_name",
        "pod_name",
        "container_name",
    },
    "gce_instance": {"project_id", "instance_id", "zone"},
}
USER_LABEL = re.compile(r"[a-z][a-z0-9_-]{0,62}")


@dataclass
class Emulator:
    """What was written, and what to fail with; `clock` gives seconds since the epoch."""

    clock: Callable[[], float] = time.time
    project: str = "projects/p"
    descriptors: dict[str, Any] = field(default_factory=dict[str, Any])
    series: dict[Any, list[tuple[float, float]]] = field(
        default_factory=dict[Any, list[tuple[float, float]]]
    )
    policies: dict[str, Any] = field(default_factory=dict[str, Any])
    dashboards: dict[str, Any] = field(default_factory=dict[str, Any])
    channels: list[Any] = field(default_factory=list[Any])
    calls: list[tuple[float, str, Any]] = field(default_factory=list[tuple[float, str, Any]])
    written_apart_s: float = 0.0
    """How long a series takes no further point, by the clock: more than is documented."""
    written: dict[Any, float] = field(default_factory=dict[Any, float])
    fail_with: Callable[[str], Any] = lambda _: None
    """From a method's name to a code to fail with, before anything is done."""
    forget_answer: Callable[[str], Any] = lambda _: None
    """Likewise, after everything is done: the answer is lost on the way."""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._server = grpc.server(ThreadPoolExecutor(8))
        self._server.add_generic_rpc_handlers([handlers(self, name) for name in SERVICES])
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self.endpoint = f"127.0.0.1:{self.port}"
        self._server.start()

    def close(self) -> None:
        self._server.stop(0).wait()

    def handle(self, method: str, request: Any, context: Any) -> Any:
        """One call: rules, faults, answer."""
        with self._lock:
            self.calls.append((self.clock(), method, request))
            if code := self.fail_with(method):
                context.abort(code, "on demand")
            try:
                answer = getattr(self, f"_{method}")(request)
            except Refused as error:
                refuse(context, error)
            if code := self.forget_answer(method):
                context.abort(code, "on demand, after the work was done")
            return answer

    def _CreateMetricDescriptor(self, request: Any) -> Any:
        self._in_project(request.name)
        made = request.metric_descriptor
        known = self.descriptors.get(made.type)
        if len(made.labels) > LABELS or any(len(label.key) > KEY_LENGTH for label in made.labels):
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "too many or too long labels")
        if not made.type.startswith("custom.googleapis.com/"):
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "not a custom metric")
        if known and (known.metric_kind, known.value_type) != (made.metric_kind, made.value_type):
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "kind and type cannot change")
        self.descriptors[made.type] = made
        return made

    def _CreateTimeSeries(self, request: Any) -> Any:
        self._in_project(request.name)
        if len(request.time_series) > SERIES_A_CALL:
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "more than 200 time series")
        faults: list[str] = []
        seen: set[Any] = set()
        for index, series in enumerate(request.time_series):
            key = _key(series)
            fault = "a series twice in one call" if key in seen else self._fault(key, series)
            seen.add(key)
            if fault:
                faults.append(f"{fault}: timeSeries[{index}]")
            else:
                point = series.points[0]
                self.written[key] = self.clock()
                self.series.setdefault(key, []).append((_end_s(point), _value(point)))
        if faults:
            total = len(request.time_series)
            summary = api.CreateTimeSeriesSummary(
                total_point_count=total, success_point_count=total - len(faults)
            )
            text = f"One or more TimeSeries could not be written: {faults[0]}"
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, text, summary)
        return empty_pb2.Empty()

    def _fault(self, key: Any, series: Any) -> str | None:
        """The rule that a series breaks."""
        labels = series.metric.labels
        if len(series.points) != 1:
            return "exactly one point is needed"
        if set(series.resource.labels) != RESOURCES.get(series.resource.type):
            return "the resource's labels are not those of its type"
        if len(labels) > LABELS or any(len(value) > VALUE_LENGTH for value in labels.values()):
            return "too many or too long labels"
        known = self.descriptors.get(series.metric.type)
        described = {label.key for label in known.labels} if known else set[str]()
        if known is None or not set(labels) <= described:
            return "no descriptor with these labels"
        kind = "int64_value" if known.value_type == 2 else "double_value"
        if kind not in api.TypedValue.pb(series.points[0].value).WhichOneof("value"):
            return f"the value is not of the metric's type ({kind})"
        end_s, now = _end_s(series.points[0]), self.clock()
        if not now - OLDEST_S <= end_s <= now + NEWEST_S:
            return "Data points cannot be written more than 25h in the past or 5m in the future"
        before = self.series.get(key)
        if before and end_s <= before[-1][0]:
            return (
                "Points must be written in order. One or more of the points specified had an "
                "older end time than the most recent point"
            )
        soon = now - self.written.get(key, -self.written_apart_s) < self.written_apart_s
        if before and (end_s - before[-1][0] < SAMPLING_S or soon):
            return (
                "One or more points were written more frequently than the maximum sampling "
                "period configured for the metric"
            )
        return None

    def _ListAlertPolicies(self, request: Any) -> Any:
        self._in_project(request.name)
        return api.ListAlertPoliciesResponse(alert_policies=list(self.policies.values()))

    def _GetAlertPolicy(self, request: Any) -> Any:
        return self._policy(request.name)

    def _CreateAlertPolicy(self, request: Any) -> Any:
        self._in_project(request.name)
        made = api.AlertPolicy(request.alert_policy)
        self._check_policy(made)
        made.name = f"{self.project}/alertPolicies/{1000 + len(self.policies)}"
        for number, condition in enumerate(made.conditions):
            condition.name = f"{made.name}/conditions/{number}"
        self.policies[made.name] = made
        return made

    def _UpdateAlertPolicy(self, request: Any) -> Any:
        self._policy(request.alert_policy.name)
        self._check_policy(request.alert_policy)
        if request.update_mask.paths:
            raise Refused(grpc.StatusCode.UNIMPLEMENTED, "the emulator replaces whole policies")
        self.policies[request.alert_policy.name] = request.alert_policy
        return request.alert_policy

    def _DeleteAlertPolicy(self, request: Any) -> Any:
        self._policy(request.name)
        del self.policies[request.name]
        return empty_pb2.Empty()

    def _ListNotificationChannels(self, request: Any) -> Any:
        self._in_project(request.name)
        return api.ListNotificationChannelsResponse(notification_channels=self.channels)

    def _ListDashboards(self, request: Any) -> Any:
        self._in_project(request.parent)
        return boards.ListDashboardsResponse(dashboards=list(self.dashboards.values()))

    def _CreateDashboard(self, request: Any) -> Any:
        self._in_project(request.parent)
        made = boards.Dashboard(request.dashboard)
        made.name, made.etag = f"{self.project}/dashboards/{len(self.dashboards)}", "1"
        self.dashboards[made.name] = made
        return made

    def _UpdateDashboard(self, request: Any) -> Any:
        board = request.dashboard
        known = self.dashboards.get(board.name)
        if known is None or known.etag != board.etag:
            raise Refused(grpc.StatusCode.ABORTED, "no such dashboard, or its etag is old")
        board.etag = str(int(board.etag) + 1)
        self.dashboards[board.name] = board
        return board

    def _DeleteDashboard(self, request: Any) -> Any:
        del self.dashboards[request.name]
        return empty_pb2.Empty()

    def _policy(self, name: str) -> Any:
        if name not in self.policies:
            raise Refused(grpc.StatusCode.NOT_FOUND, f"{name}: no such policy")
        return self.policies[name]

    def _check_policy(self, policy: Any) -> None:
        for key, value in policy.user_labels.items():
            if not USER_LABEL.fullmatch(key) or not re.fullmatch(r"[a-z0-9_-]{0,63}", value):
                raise Refused(grpc.StatusCode.INVALID_ARGUMENT, f"user label {key}={value}")
        if not policy.display_name or not policy.conditions or not policy.combiner:
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "name, conditions and combiner needed")
        known = {channel.name for channel in self.channels}
        if not set(policy.notification_channels) <= known:
            raise Refused(grpc.StatusCode.NOT_FOUND, "no such notification channel")
        for condition in policy.conditions:
            self._check_condition(condition)

    def _check_condition(self, condition: Any) -> None:
        query = condition.condition_prometheus_query_language
        absent = condition.condition_absent
        if query.query:
            every = query.evaluation_interval.total_seconds()
            if every % 30 or every < 30:
                raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "evaluation interval: 30 s")
            named = set(re.findall(r"custom_googleapis_com:tpudiag_(\w+)", query.query))
            there = {name.rpartition("/")[2] for name in self.descriptors}
            if not named or not named <= there:
                raise Refused(grpc.StatusCode.NOT_FOUND, f"no such metric: {named - there}")
        elif absent.filter:
            if absent.duration.total_seconds() < 120:
                raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "absence: at least 120 s")
        else:
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "a condition of no known kind")

    def _in_project(self, name: str) -> None:
        if name != self.project:
            raise Refused(grpc.StatusCode.NOT_FOUND, f"{name}: no such project")


def _key(series: Any) -> Any:
    return (
        series.metric.type,
        tuple(sorted(series.metric.labels.items())),
        series.resource.type,
        tuple(sorted(series.resource.labels.items())),
    )


def _end_s(point: Any) -> float:
    return float(point.interval.end_time.timestamp())


def _value(point: Any) -> float:
    return float(point.value.int64_value or point.value.double_value)
