"""Clients of the Cloud Monitoring API, and its errors in one line."""

from enum import Enum
from typing import Any

from tpudiag.errors import TpudiagError, UsageError
from tpudiag.sources import google_clients

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
    """A read and write client; raises UsageError without credentials."""
    missing = UsageError(NO_CREDENTIALS)
    return google_clients.client(*service.value, "monitoring", endpoint, missing)[0]


def call(where: str, method: Any, *arguments: Any, **named: Any) -> Any:
    """Call the API; its errors as a CloudError in one line."""
    from google.api_core.exceptions import GoogleAPIError
    from google.auth.exceptions import GoogleAuthError

    # With arguments it is a function of ours, which sets its own deadlines.
    if not arguments:
        named["timeout"] = CALL_S
    if "list" in method.__name__:
        named["retry"] = google_clients.patience(CALL_S)
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
