"""Where a watch sends figures, besides its view and report."""

from dataclasses import dataclass
from pathlib import Path

from tpudiag.diagnoses.watch_request import Outlet
from tpudiag.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class OutletRequest:
    """The receivers of the sources' figures."""

    sources: tuple[str, ...]
    job: str | None = None
    """The job's name in the metrics; None for the script's."""
    prometheus: str | None = None
    """`[HOST:]PORT` at which they are served; None to disable."""
    otlp: str | None = None
    """The URL of an OpenTelemetry collector; None to disable."""
    project: str | None = None
    """The Google Cloud project to send them to; None to disable."""
    period_s: float = 30.0
    buffer: Path | None = None
    endpoint: str | None = None


def outlets(request: OutletRequest) -> list[Outlet]:
    """The requested outlets, started; raises UsageError."""
    chosen: list[Outlet] = []
    if request.prometheus is not None:
        from tpudiag.monitoring.prometheus import Prometheus

        chosen.append(Prometheus(request.prometheus, request.job))
    if request.otlp is not None:
        from tpudiag.monitoring.open_telemetry import OpenTelemetry

        chosen.append(OpenTelemetry(request.otlp, request.job))
    if request.project is not None:
        # Only here: Google's client is an extra, and takes a second to import.
        from tpudiag.monitoring.cloud.exporter import Exporter

        chosen.append(
            Exporter(
                request.project, ", ".join(request.sources), job=request.job,
                period_s=request.period_s, endpoint=request.endpoint, buffer=request.buffer,
            )
        )  # fmt: skip
    elif request.endpoint is not None:
        raise UsageError("--endpoint: needs --project")
    return chosen
