"""Step times and throughput."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from statistics import median
from typing import Literal

from tpudiag.records import dataclass
from tpudiag.signals.causes import Cause
from tpudiag.signals.delivery import DeliveryFall, LossTrouble
from tpudiag.signals.run_state import RunState, StateKind

RateUnit = Literal["examples", "steps", "epochs"]
"""What is counted a second; epochs where only their ends are known."""
WARM_UP = 3.0
"""First steps that took this many times longer than the others are warm-up."""
LEAST_STEADY = 3
"""Steps that must follow them."""
LOST = 0.1
"""A step whose trace lost a larger share of its operations is not evaluated by parts."""


def warm_up(step_ms: Sequence[float]) -> int:
    """How many first steps are warm-up (tracing, compilation, buffers that fill); mostly none.

    Each of them took over three times as long as the median, and as nine in ten of those after.
    """
    # Of all steps, since warm-up is not known yet; its few steps move a median
    # little.
    usual = median(step_ms) if step_ms else 0.0
    first = next((n for n, ms in enumerate(step_ms) if ms <= WARM_UP * usual), 0)
    rest = sorted(step_ms[first:])
    # With fewer steps behind than in front it is no warm-up: the job became faster on its way.
    if not first or len(rest) < max(LEAST_STEADY, first):
        return 0
    # Nine in ten, not all: a checkpoint now and then may take as long as the first steps.
    return first if min(step_ms[:first]) > WARM_UP * rest[(9 * len(rest) - 1) // 10] else 0


@dataclass(frozen=True, kw_only=True)
class StepTimes:
    """Step times in ms; `input_wait_ms` is the part of each step spent waiting for input."""

    step_ms: tuple[float, ...]
    input_wait_ms: tuple[float, ...] | None
    source: str
    recovered: bool = False
    input_wait_source: str | None = None
    """The source of `input_wait_ms`, None where the wait is unknown."""
    made_alone_ms: float | None = None
    """The host's time to make a step's input while no step runs; None: not measured."""
    untold_ms: tuple[float, ...] | None = None
    """The part of each step whose operations a trace lost; None where it lost none."""

    @property
    def steady(self) -> StepTimes:
        """The same without warm-up, the basis of shares of the step time."""
        first = warm_up(self.step_ms)
        return self._chosen(range(first, len(self.step_ms))) if first else self

    @property
    def recorded(self) -> StepTimes:
        """The same without steps whose operations the trace lost, if it holds others."""
        if self.untold_ms is None:
            return self
        both = zip(self.step_ms, self.untold_ms, strict=True)
        kept = [i for i, (ms, unrecorded) in enumerate(both) if unrecorded < LOST * ms]
        return self._chosen(kept) if kept else self

    def _chosen(self, kept: Sequence[int]) -> StepTimes:
        waits, unrecorded = self.input_wait_ms, self.untold_ms
        return replace(
            self,
            step_ms=tuple(self.step_ms[i] for i in kept),
            input_wait_ms=waits and tuple(waits[i] for i in kept),
            untold_ms=unrecorded and tuple(unrecorded[i] for i in kept),
        )


def rate(value: float) -> str:
    """A rate for a sentence, e.g. `10,073` or `0.05123`."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.4g}"


def utc(at_ns: int) -> str:
    """A time as RFC 3339."""
    return datetime.fromtimestamp(at_ns // 1_000_000_000, timezone.utc).isoformat()


@dataclass(frozen=True, kw_only=True)
class ThroughputDrop:
    """Throughput below the job's own baseline since about `since_ns`."""

    since_ns: int
    found_ns: int
    """When it was proven."""
    baseline_per_s: float
    per_s: float
    ended_ns: int | None = None
    """None while it lasts."""
    against: str = "the job's baseline"
    """The baseline's name, for a sentence."""
    cause: Cause | None = None
    stands: str = ""
    """The main thread's current line, for a sentence; empty where unknown."""

    @property
    def share(self) -> float:
        """The share of throughput that is lost, 0 to 1."""
        return 1 - self.per_s / self.baseline_per_s


@dataclass(frozen=True)
class ThroughputDrift:
    """Throughput that falls gradually, over hours, from `best_per_s` at about `since_ns`."""

    since_ns: int
    best_per_s: float
    per_s: float
    percent_per_hour: float
    """Of the throughput at best."""

    @property
    def share(self) -> float:
        """The share of throughput that is lost, 0 to 1."""
        return 1 - self.per_s / self.best_per_s


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """A job's present and past speed; rates are in `unit` per second outside announced pauses."""

    unit: RateUnit
    steps: int
    source: str
    per_s: float | None = None
    baseline_per_s: float | None = None
    """None while the baseline is being learned."""
    drops: tuple[ThroughputDrop, ...] = ()
    silent_s: float | None = None
    """Time since the last step; None where the run has ended."""
    normal_pause_s: float = 0.0
    """The longest pause that is normal for the job, as far as it is known."""
    pausing: str | None = None
    """The kind of pause that the job announced and is in."""
    state: RunState = RunState(StateKind.STEPPING, "it makes steps")
    lost_steps: int = 0
    """Steps that were made but not recorded."""
    unsure: str | None = None
    """Why silence may mean the end of the job."""
    doubt: str | None = None
    """Why the baseline is unreliable."""
    drift: ThroughputDrift | None = None
    stall_cause: Cause | None = None
    stands: str = ""
    """The main thread's line during a stall."""
    pid: int | None = None
    """The job's process, where it runs on this host."""
    delivery: DeliveryFall | None = None
    delivered_per_s: float | None = None
    """By wall time over the last ten minutes, pauses and stalls included."""
    watched_s: float | None = None
    """For how long steps were seen."""
    loss: LossTrouble | None = None
    losses_said: int = 0
    watched_h: float | None = None
    """How long it was watched for gradual change, in hours; None where it was not."""
