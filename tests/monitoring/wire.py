"""The wire of the emulated services: methods, messages, errors with their details."""

from importlib import import_module
from typing import Any, NoReturn

from google.protobuf import any_pb2

grpc: Any = import_module("grpc")
api: Any = import_module("google.cloud.monitoring_v3")
boards: Any = import_module("google.cloud.monitoring_dashboard_v1")
code_pb2: Any = import_module("google.rpc.code_pb2")
status_pb2: Any = import_module("google.rpc.status_pb2")
rpc_status: Any = import_module("grpc_status.rpc_status")

SERVICES = {
    "MetricService": ("CreateMetricDescriptor", "CreateTimeSeries"),
    "AlertPolicyService": (
        "ListAlertPolicies",
        "GetAlertPolicy",
        "CreateAlertPolicy",
        "UpdateAlertPolicy",
        "DeleteAlertPolicy",
    ),
    "NotificationChannelService": ("ListNotificationChannels",),
    "DashboardsService": (
        "ListDashboards",
        "CreateDashboard",
        "UpdateDashboard",
        "DeleteDashboard",
    ),
}


class Refused(Exception):
    """A call that breaks a rule."""

    def __init__(self, code: Any, text: str, summary: Any = None) -> None:
        super().__init__(text)
        self.code, self.text, self.summary = code, text, summary


def handlers(owner: Any, service: str) -> Any:
    """The methods of a service that the emulator knows."""
    found: dict[str, Any] = {}
    for name in SERVICES[service]:
        kind: Any = getattr(boards if "Dashboard" in name else api, f"{name}Request")

        def call(request: Any, context: Any, name: str = name) -> Any:
            return owner.handle(name, request, context)

        found[name] = grpc.unary_unary_rpc_method_handler(
            call, request_deserializer=kind.deserialize, response_serializer=_serialized
        )
    package = "dashboard.v1" if service == "DashboardsService" else "v3"
    return grpc.method_handlers_generic_handler(f"google.monitoring.{package}.{service}", found)


def _serialized(message: Any) -> bytes:
    data: bytes = _plain(message).SerializeToString()
    return data


def _plain(message: Any) -> Any:
    """The protobuf message of a proto-plus one."""
    plain = hasattr(message, "SerializeToString")
    name = message.__class__.__name__
    return message if plain else getattr(boards if "Dashboard" in name else api, name).pb(message)


def refuse(context: Any, error: Refused) -> NoReturn:
    details: list[Any] = []
    if error.summary is not None:
        packed = any_pb2.Any()
        packed.Pack(_plain(error.summary))
        details.append(packed)
    number = getattr(code_pb2, error.code.name)
    status = status_pb2.Status(code=number, message=error.text, details=details)
    context.abort_with_status(rpc_status.to_status(status))
    raise AssertionError("abort_with_status raises")
