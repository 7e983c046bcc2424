"""The request of `tpudiag watch`, its normal rate, and the receivers of its figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from tpudiag.bounded_files import read_bytes
from tpudiag.diagnoses.lost_time import Price
from tpudiag.diagnoses.worker_lookup import WorkerLookup
from tpudiag.errors import UsageError
from tpudiag.monitoring.causes.investigation import Tools
from tpudiag.monitoring.detector import Reference
from tpudiag.monitoring.metrics import Figures
from tpudiag.report_figures import PlanRow
from tpudiag.signals import rate


class Outlet(Protocol):
    """A receiver of figures besides the view and the report."""

    def show(self, figures: Figures, alerts: Mapping[str, bool]) -> None:
        """Take the current figures, and whether each check fails."""
        ...

    def close(self) -> str:
        """Close; returns a message for the report, or nothing."""
        ...


@dataclass(frozen=True, kw_only=True)
class WatchRequest:
    """The sources, their expected rate, and the reactions to problems."""

    sources: tuple[str, ...]
    """Recordings, log folders, addresses of profiler services."""
    on_alert: str | None = None
    """A shell command run when an alert is raised, and when it is over."""
    outlets: Sequence[Outlet] = ()
    expect: Reference | None = None
    price: Price | None = None
    logs: tuple[Path, ...] = ()
    """The job's output, in the order of the workers."""
    quiet: frozenset[str] = frozenset()
    """Checks reported only where they fail."""
    captures: str | None = None
    """A folder for profiles of drops and stalls; without it none are taken."""
    tools: Tools | None = None
    """The tools to find causes; None for all of this machine's."""
    lookup: WorkerLookup | None = None
    """Looks up the workers again, where they came from a lookup."""

    @property
    def name(self) -> str:
        """The sources' name in reports."""
        return ", ".join(self.sources)


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


class _Report(msgspec.Struct):
    """A JSON report."""

    plan: tuple[PlanRow, ...] = ()


def expected(wish: float | Path | None) -> Reference | None:
    """The reference, of a plan the slow end of the prediction for its best batch.

    Raises UsageError for a report that predicts no rate, or several.
    """
    if wish is None:
        return None
    if not isinstance(wish, Path):
        return Reference(wish, "what --expect gives", given=True)
    try:
        report = msgspec.json.decode(read_bytes(wish), type=_Report)
    except OSError as error:
        raise UsageError(f"--expect {wish}: {error.strerror or error}") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UsageError(f"--expect {wish}: neither a rate nor a JSON report") from error
    best = [row for row in report.plan if row.best and row.examples_per_second]
    if not best:
        raise UsageError(
            f"--expect {wish}: predicts no rate; make it with tpudiag plan train.py --for v5e-8 "
            f"-o {wish.name}"
        )
    if len(best) > 1:
        targets = ", ".join(row.target for row in best)
        raise UsageError(f"--expect {wish}: a plan for several TPUs ({targets}); make one for one")
    (row,) = best
    slowest = row.examples_per_second or 0.0
    if row.step_ms and row.step_high_ms:
        # A job at the slow end of its prediction is still as predicted.
        slowest *= row.step_ms / row.step_high_ms
    text = (
        f"what {wish.name} predicts for {row.target} at {row.batch_per_replica} a replica: "
        f"{rate(slowest)} at the least"
    )
    return Reference(slowest, text, given=True)
