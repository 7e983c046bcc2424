"""Clients of the Cloud Monitoring API, and its errors in one line."""

import re
from enum import Enum
from importlib import import_module
from typing import Any

from tpudiag.errors import TpudiagError, UsageError

NO_CREDENTIALS = (
    "no Google credentials: `gcloud auth application-default login`, or a service account with "
    "roles/monitoring.metricWriter (for alerts: roles/monitoring.alertPolicyEditor)"
)
CALL_S = 15.0


class CloudError(TpudiagError):
    """Cloud Monitoring was not reached or refused; names the project and the cause."""


class Service(Enum):
    """A part of the API: its package, and its name there."""

    METRICS = "google.cloud.monitoring_v3", "MetricService"
    POLICIES = "google.cloud.monitoring_v3", "AlertPolicyService"
    CHANNELS = "google.cloud.monitoring_v3", "NotificationChannelService"
    DASHBOARDS = "google.cloud.monitoring_dashboard_v1", "DashboardsService"


def client(service: Service, endpoint: str | None) -> Any:
    """A read and write client; `endpoint` is a server without TLS and credentials (emulator)."""
    package, name = service.value
    folder = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    transports: Any = import_module(f"{package}.services.{folder}.transports")
    options = _options(getattr(transports, f"{name}GrpcTransport"), endpoint)
    return getattr(import_module(package), f"{name}Client")(**options)


def _options(transport: Any, endpoint: str | None) -> dict[str, Any]:
    """How to make a client; raises UsageError without credentials."""
    if endpoint is not None:
        grpc: Any = import_module("grpc")
        return {"transport": transport(channel=grpc.insecure_channel(endpoint))}
    auth: Any = import_module("google.auth")
    from google.auth.exceptions import GoogleAuthError

    try:
        credentials, _ = auth.default(scopes=["https://www.googleapis.com/auth/monitoring"])
    except (GoogleAuthError, OSError) as error:
        raise UsageError(NO_CREDENTIALS) from error
    return {"credentials": credentials}


def call(where: str, method: Any, *arguments: Any, **named: Any) -> Any:
    """Call the API; its errors as a CloudError in one line."""
    from google.api_core.exceptions import GoogleAPIError, ServiceUnavailable
    from google.api_core.retry import Retry, if_exception_type
    from google.auth.exceptions import GoogleAuthError

    # With arguments it is a function of ours, which sets its own deadlines.
    if not arguments:
        named["timeout"] = CALL_S
    # Retry only lists: a create or write may have succeeded although its answer was lost.
    if "list" in method.__name__:
        again: Any = if_exception_type(ServiceUnavailable)
        named["retry"] = Retry(predicate=again, initial=0.2, maximum=2.0, timeout=CALL_S)
    try:
        return method(*arguments, **named)
    except (GoogleAPIError, GoogleAuthError) as error:
        raise CloudError(f"{where}: {error_line(error)}") from error


def error_line(error: Exception) -> str:
    """An API error in one line: its code and message."""
    error = getattr(error, "cause", None) or error  # the last error of retries that timed out
    code = getattr(getattr(error, "grpc_status_code", None), "name", type(error).__name__)
    message = " ".join(str(getattr(error, "message", error)).split())
    return f"{code}: {message}" if message else str(code)
