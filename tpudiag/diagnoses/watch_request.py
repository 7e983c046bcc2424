"""The request of `tpudiag watch`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tpudiag.diagnoses.lost_time import Price
from tpudiag.diagnoses.worker_lookup import WorkerLookup
from tpudiag.monitoring.causes.investigation import Tools
from tpudiag.monitoring.detector import Reference
from tpudiag.monitoring.figures import Figures


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
