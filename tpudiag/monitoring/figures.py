"""The figures of a watched run: what exporters, the view and the report read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tpudiag.monitoring.ledger import TimeUse, goodput
from tpudiag.monitoring.recording import Run
from tpudiag.signals.causes import CauseKind
from tpudiag.signals.run_state import RunState
from tpudiag.signals.throughput import RateUnit


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A watched run over its last five minutes; None where not known."""

    run: Run
    state: RunState
    worker: str = ""
    """Which of the job's workers it is, empty where there is one."""
    cause: CauseKind | None = None
    """The cause of the drop or stall; None where not known."""
    unit: RateUnit
    steps: int
    per_s: float | None
    steps_per_s: float | None
    baseline_per_s: float | None
    baseline_in_s: float | None = None
    """While it is not known: how long learning still takes, at the present pace."""
    delivered_per_s: float | None = None
    """By wall time over the last ten minutes, pauses, stalls and silence included."""
    step_ms: tuple[float | None, float | None, float | None]
    """The median, the 90th and the 99th percentile."""
    input_share: float | None
    hbm_bytes: int | None
    silent_s: float | None
    normal_pause_s: float
    pause_s: float
    """Time in announced pauses since the run began."""
    spent: Mapping[TimeUse, float] = field(default_factory=dict[TimeUse, float])
    """Where the job's wall time went, over its restarts, in s."""

    @property
    def goodput(self) -> float | None:
        """The share of the job's wall time spent on steps that count."""
        return goodput(self.spent)
