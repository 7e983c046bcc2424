"""The figures of a watched run by name, for Prometheus, OpenTelemetry and Cloud Monitoring."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tpudiag.monitoring.ledger import PRODUCTIVE, TimeUse, goodput
from tpudiag.monitoring.recording import NS, Run
from tpudiag.signals.causes import CauseKind
from tpudiag.signals.run_state import RunState, StateKind
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
    pause_s: float
    """Time in announced pauses since the run began."""
    spent: Mapping[TimeUse, float] = field(default_factory=dict[TimeUse, float])
    """Where the job's wall time went, over its restarts, in s."""


Worker = tuple[Figures, Mapping[str, bool]]
"""A worker's figures, and whether each check fails for it."""


@dataclass(frozen=True)
class Metric:
    """A gauge; `read` returns None where the figure is unknown. Units are UCUM's."""

    name: str
    unit: str
    text: str
    read: Callable[[Figures], float | int | None]
    whole: bool = False
    """Whether its values are whole numbers."""


METRICS = (
    Metric("examples_per_second", "{examples}/s",
           "Examples a second outside announced pauses, median of the last half minute",
           lambda f: f.per_s if f.unit == "examples" else None),
    Metric("delivered_examples_per_second", "{examples}/s",
           "Examples a second by the wall's clock, pauses included, last ten minutes",
           lambda f: f.delivered_per_s if f.unit == "examples" else None),
    Metric("steps_per_second", "{steps}/s", "Steps a second outside pauses, last five minutes",
           lambda f: f.steps_per_s if f.run.unit == "steps" else None),
    Metric("step_time_p50_ms", "ms", "Median step time, last five minutes", lambda f: f.step_ms[0]),
    Metric("step_time_p90_ms", "ms", "90th percentile of the step time, last five minutes",
           lambda f: f.step_ms[1]),
    Metric("step_time_p99_ms", "ms", "99th percentile of the step time, last five minutes",
           lambda f: f.step_ms[2]),
    Metric("baseline_ratio", "1", "Throughput over the job's own baseline",
           lambda f: f.per_s / f.baseline_per_s
           if f.per_s is not None and f.baseline_per_s else None),
    Metric("input_wait_share", "1", "Share of step time spent waiting for input",
           lambda f: f.input_share),
    Metric("hbm_used_bytes", "By", "HBM in use on the fullest device", lambda f: f.hbm_bytes, True),
    Metric("hbm_used_share", "1", "HBM in use over what programs may use",
           lambda f: f.hbm_bytes / f.run.hbm_limit_bytes
           if f.hbm_bytes is not None and f.run.hbm_limit_bytes else None),
    Metric("silent_seconds", "s", "Time since the last step", lambda f: f.silent_s),
    Metric("pause_seconds", "s", "Time in announced pauses so far", lambda f: f.pause_s),
    Metric("goodput_share", "1", "Share of the job's wall time that went into steps that count",
           lambda f: goodput(f.spent)),
    Metric("examples", "{examples}", "Examples recorded so far",
           lambda f: f.steps * f.run.global_batch
           if f.run.global_batch is not None and f.run.unit == "steps" else None, True),
    Metric("steps", "{steps}", "Steps recorded so far", lambda f: f.steps, True),
    Metric("lost_steps", "{steps}", "Steps not recorded", lambda f: f.run.lost_steps, True),
    Metric("run_ended", "1", "Whether the run has ended, well or not",
           lambda f: int(f.state.over), True),
    Metric("run_started_seconds", "s", "When the run began, since the epoch",
           lambda f: f.run.started_ns / NS),
    Metric("ended_run_seconds", "s", "The same of a run that has ended well; 0 of any other",
           lambda f: f.run.started_ns / NS if f.state.kind is StateKind.COMPLETED else 0.0),
    Metric("run_age_seconds", "s", "Time since the run began",
           lambda f: (f.run.beat_ns - f.run.started_ns) / NS),
)  # fmt: skip


def values(figures: Figures) -> dict[str, float | int]:
    """The figures that are known, by the metric's name."""
    readings = ((metric.name, metric.read(figures)) for metric in METRICS)
    return {name: value for name, value in readings if value is not None}


COUNTERS = frozenset(("steps", "examples", "lost_steps", "pause_seconds"))
"""Figures that only grow while a run lasts: exported as counters where possible."""

CAUSED = ("TPU603", "TPU604")
"""The checks whose cause is investigated."""


def cause_of(figures: Figures, check_id: str, failing: bool) -> str:
    """The cause of a failing check as a word; empty where unknown."""
    known = failing and check_id in CAUSED
    return figures.cause.value if known and figures.cause is not None else ""


@dataclass(frozen=True)
class Sample:
    """One number of one worker; a counter where it only grows."""

    name: str
    unit: str
    text: str
    labels: Mapping[str, str]
    value: float

    @property
    def counter(self) -> bool:
        """Whether it only grows while a run lasts."""
        return self.name in COUNTERS


def samples(workers: Iterable[Worker], job: str | None) -> Iterator[Sample]:
    """All known figures of the workers; `job` replaces each run's name."""
    for figures, alerts in workers:
        run, readings = figures.run, values(figures)
        whose = {
            "job_name": job or run.name,
            "host": run.host,
            # A single worker is named by its host.
            "worker": figures.worker or run.worker or run.host,
            "run_id": run.id,
        }
        for metric in METRICS:
            if metric.name in readings:
                yield Sample(metric.name, metric.unit, metric.text, whose, readings[metric.name])
        yield Sample(
            "goodput_time_seconds", "s", "Time of the job that went into steps that count", whose,
            sum(figures.spent.get(use, 0.0) for use in PRODUCTIVE),
        )  # fmt: skip
        for use, seconds in figures.spent.items():
            if use not in PRODUCTIVE:
                source = {**whose, "badput_source": use.name.lower()}
                text = "Time of the job that went into anything else"
                yield Sample("badput_time_seconds", "s", text, source, seconds)
        state = {**whose, "state": figures.state.kind.value}
        yield Sample("run_state", "1", "The state that the run is in", state, 1)
        for id_, failing in alerts.items():
            failed = {**whose, "id": id_, "cause": cause_of(figures, id_, failing)}
            yield Sample("alert", "1", "Whether a check fails", failed, int(failing))
