"""Observations of a worker before a drop and since, from which its cause is classified."""

from collections.abc import Sequence
from dataclasses import dataclass

from tpudiag.monitoring.causes.host import HostFigures
from tpudiag.monitoring.causes.machine_events import MachineEvent
from tpudiag.monitoring.causes.stacks import Activity, MainThread
from tpudiag.monitoring.recording import NS, Trace, Window
from tpudiag.sources.live.tpu_monitoring import ChipScore

BEFORE_S, NOW_S = 600.0, 300.0
EXPLAINED = 0.6
"""The share of the lost time that a cause must account for."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Where a step's time went, in ms; None where not measured."""

    step_ms: float
    wait_ms: float | None
    compile_ms: float
    hbm_bytes: int | None

    @property
    def own_ms(self) -> float:
        """The step without input wait and compilation."""
        return max(self.step_ms - (self.wait_ms or 0.0) - self.compile_ms, 0.0)


@dataclass(frozen=True, kw_only=True)
class Observations:
    """A worker before and now; None where it could not be observed."""

    lost: float
    """Share of throughput lost; 1 in a stall."""
    stalled: bool = False
    stopped: bool = False
    event: MachineEvent | None = None
    """The machine's announced termination or maintenance."""
    pausing: str | None = None
    before: Pace | None = None
    now: Pace | None = None
    traces: tuple[Trace, ...] = ()
    """Traces since then."""
    host_before: HostFigures | None = None
    host: HostFigures | None = None
    main: MainThread | None = None
    main_before: tuple[MainThread, ...] = ()
    """Occasional samples from before."""
    hbm_limit_bytes: int | None = None
    chips: tuple[ChipScore, ...] = ()
    """Throttled chips and link health; empty where no libtpu library provides it."""
    chips_before: tuple[ChipScore, ...] | None = None
    """The last one from before; None where none was taken."""
    partner: tuple[str, str] | None = None
    """The worker that the others wait for, and its main thread's line."""

    def share_before(self, activity: Activity) -> float | None:
        """The activity's share of the main thread's time before; None without samples."""
        shares = [one.share(activity) for one in self.main_before if not one.fault]
        return sum(shares) / len(shares) if shares else None


def pace(windows: Sequence[Window]) -> Pace | None:
    """The mean over windows; None without steps."""
    steps = sum(window.steps for window in windows)
    if not steps:
        return None
    active_s = sum(window.active_s for window in windows)
    waits = [window.wait_ms for window in windows]
    used = [window.hbm_bytes for window in windows if window.hbm_bytes is not None]
    return Pace(
        step_ms=1e3 * active_s / steps,
        # None if any window lacks a measurement, which would lower the mean of the others.
        wait_ms=None if None in waits else sum(wait or 0.0 for wait in waits) / steps,
        compile_ms=sum(window.compile_ms for window in windows) / steps,
        hbm_bytes=max(used, default=None),
    )


def around(windows: Sequence[Window], since_ns: int) -> tuple[Pace | None, Pace | None]:
    """The pace in the ten minutes before a time, and in the last five minutes since."""
    before = [w for w in windows if since_ns - BEFORE_S * NS <= w.start_ns and w.end_ns <= since_ns]
    since = [w for w in windows if w.start_ns >= since_ns]
    last_ns = since[-1].end_ns if since else 0
    # The first step, which traces and compiles, is not typical of the time before.
    return pace([w for w in before if w.number]), pace(
        [w for w in since if w.start_ns >= last_ns - NOW_S * NS]
    )
