"""What `tpudiag watch` is asked for."""

from __future__ import annotations

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
    """Where figures go besides the view and the report."""

    def show(self, figures: Figures, alerts: Mapping[str, bool]) -> None:
        """The figures as they are now, and whether each check fails."""
        ...

    def close(self) -> str:
        """The end; what the report shall say of it, or nothing."""
        ...


@dataclass(frozen=True, kw_only=True)
class WatchRequest:
    """Which sources are watched, what is normal of them, and what is done about the rest."""

    sources: tuple[str, ...]
    """Recordings, log folders, addresses of profiler services."""
    on_alert: str | None = None
    """A command for the shell when an alert is raised, and when it is over."""
    outlets: Sequence[Outlet] = ()
    expect: Reference | None = None
    price: Price | None = None
    logs: tuple[Path, ...] = ()
    """What the job prints, in the order of the workers."""
    quiet: frozenset[str] = frozenset()
    """The checks of which is told only where they fail."""
    captures: str | None = None
    """A folder for profiles of drops and stalls; without it none is taken."""
    tools: Tools | None = None
    """What looks for causes; None for all that this machine has."""
    lookup: WorkerLookup | None = None
    """Looks for the workers again, where they were looked up."""

    @property
    def name(self) -> str:
        """The sources, as reports call them."""
        return ", ".join(self.sources)
