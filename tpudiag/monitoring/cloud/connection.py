"""Clients of the Cloud Monitoring API, and its errors in one line."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tpudiag.errors import TpudiagError, UsageError

NO_CREDENTIALS = (
    "no Google credentials: `gcloud auth application-default login`, or a service account with "
    "roles/monitoring.metricWriter (for alerts: roles/monitoring.alertPolicyEditor)"
)


class CloudError(TpudiagError):
    """Cloud Monitoring was not reached or refused; names the project and the cause."""


def metric_client(endpoint: str | None) -> Any:
    """Writes metrics; `endpoint` is a server without TLS and credentials, such as an emulator."""
    from google.cloud import monitoring_v3
    from google.cloud.monitoring_v3.services.metric_service.transports import (
        MetricServiceGrpcTransport as Transport,
    )

    return monitoring_v3.MetricServiceClient(**_options(Transport, endpoint))


def policy_client(endpoint: str | None) -> Any:
    """Reads and writes alert policies."""
    from google.cloud import monitoring_v3
    from google.cloud.monitoring_v3.services.alert_policy_service.transports import (
        AlertPolicyServiceGrpcTransport as Transport,
    )

    return monitoring_v3.AlertPolicyServiceClient(**_options(Transport, endpoint))


def channel_client(endpoint: str | None) -> Any:
    """Reads notification channels."""
    from google.cloud import monitoring_v3
    from google.cloud.monitoring_v3.services.notification_channel_service.transports import (
        NotificationChannelServiceGrpcTransport as Transport,
    )

    return monitoring_v3.NotificationChannelServiceClient(**_options(Transport, endpoint))


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


def said(error: Exception) -> str:
    """An error of the API in one line: its code, and what it says."""
    error = getattr(error, "cause", None) or error  # what was retried until the time was over
    code = getattr(getattr(error, "grpc_status_code", None), "name", type(error).__name__)
    message = " ".join(str(getattr(error, "message", error)).split())
    return f"{code}: {message}" if message else str(code)
