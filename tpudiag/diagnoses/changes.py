"""Changes between the sides of a comparison, and whether they exceed noise."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite
from statistics import fmean, median

from tpudiag.model import Report
from tpudiag.records import dataclass
from tpudiag.report_figures import Value
from tpudiag.signals import warm_up
from tpudiag.statistics import (
    LEAST_RUNS,
    Difference,
    Statistic,
    difference,
    runs_difference,
    spread,
    within,
)

STEP_MS = "step_time_ms"
COMPILED = (
    "hbm_need_bytes", "flops_per_example", "hbm_bytes_per_example", "compiler_cycles_per_example",
    "predicted_us_per_example", "collective_bytes_per_step", "padding_bytes",
    "recomputed_operations",
)  # fmt: skip
"""Figures of the TPU compiler's program: without noise within one compiler."""
INPUT_CPU = "input_cpu_us_per_example"
"""CPU time of the pipeline run alone: its noise is not visible in a single run."""
CPU = "CPU replicas"
"""Marks the source of times from a rehearsal, which may not close a gate."""
GATED: Mapping[str, Statistic] = {
    STEP_MS: "median",
    "step_time_mean_ms": "mean",
    "step_time_p90_ms": "p90",
    "examples_per_second": "harmonic mean",
    "mxu_utilization": "harmonic mean",
    "peak_memory_bytes": "median",
    "peak_hbm_bytes": "median",
    **dict.fromkeys(COMPILED, "median"),
    INPUT_CPU: "median",
}
"""Figures that can regress, and their statistic over the values by step."""
OF_STEPS = (STEP_MS, "step_time_mean_ms", "step_time_p90_ms")
HIGHER_IS_BETTER = ("examples_per_second", "mxu_utilization", "compute_16bit_share")
OF_PEAK = ("mxu_utilization", "hbm_bandwidth_utilization")
"""Shares of a chip's peaks: the only figures comparable across hardware."""
HARDWARE = ("device_kind", "peak_compute", "peak_hbm_bandwidth")
Samples = dict[str, tuple[float, ...]]


@dataclass(frozen=True, kw_only=True)
class Change:
    """One figure on both sides; `change` is relative to the first, None from 0 or to nothing."""

    name: str
    unit: str
    before: float
    after: float
    change: float | None
    difference: Difference | None
    """The test over steps, or over runs where there are several; None where neither is possible."""
    steps: tuple[int, int] = (0, 0)
    """Values by step on both sides."""
    runs: tuple[int, int] = (1, 1)
    between: float | None = None
    """The relative spread of one side's runs, the larger of both; None for one run each."""
    within: float | None = None
    """The spread of one run's figure expected from its steps alone."""
    gated: bool = True

    @property
    def worse(self) -> float | None:
        """The relative regression; negative for an improvement."""
        if not self.gated or self.name not in GATED:
            return None
        if self.change is None:
            # From 0 there is no ratio. For a figure without noise (recomputed operations) any
            # growth is worse.
            return inf if self.name in COMPILED and self.after > self.before else None
        return -self.change if self.name in HIGHER_IS_BETTER else self.change

    @property
    def untested(self) -> bool:
        """Whether steps were recorded, but too few to separate a change from noise."""
        return self.difference is None and any(self.steps)

    @property
    def proved(self) -> bool:
        """Whether it exceeds noise; a figure without steps is taken as it is."""
        return not self.untested if self.difference is None else self.difference.significant

    def regressed(self, limit: float) -> bool:
        """Whether it got worse by more than the limit, and by more than noise."""
        return self.worse is not None and self.worse > limit and self.proved

    def unsure(self, limit: float) -> bool:
        """Whether it exceeds the limit, but may be noise."""
        return self.worse is not None and self.worse > limit and self.untested


def changes(
    before: Sequence[Report], after: Sequence[Report], across_hardware: bool = False
) -> tuple[Change, ...]:
    """Every figure that all reports of both sides hold as a number, in the first one's order."""
    differences: list[Change] = []
    for name, measurement in before[0].measurements.items():
        sides = [_values(name, measurement.unit, side) for side in (before, after)]
        if sides[0] and sides[1]:
            change = _change(name, measurement.unit, sides, (before, after))
            differences.append(replace(change, gated=_judged(name, before, after)))
    left, right = samples(before[0]), samples(after[0])
    # A report keeps parts of the step by step only.
    for name in [n for n in left if n in right and n not in before[0].measurements]:
        if left[name] and right[name]:
            sides = [[median(left[name])], [median(right[name])]]
            differences.append(_change(name, "ms", sides, (before[:1], after[:1])))
    if not across_hardware:
        return tuple(differences)
    # Between different chips only shares of their peaks can regress.
    return tuple(replace(each, gated=each.name in OF_PEAK) for each in differences)


def same_compiler(before: Sequence[Report], after: Sequence[Report]) -> bool:
    """Whether one compiler made both sides' programs: those of two are not compared."""
    made = [{p.target: p.compiler for p in report.predictions} for report in (*before, *after)]
    return all(each.get(t, c) == c for each in made for t, c in made[0].items())


def _judged(name: str, before: Sequence[Report], after: Sequence[Report]) -> bool:
    """Whether a figure may close a gate."""
    if name in COMPILED:
        return same_compiler(before, after)
    # It differs more between runs than its parts within a run show.
    if name == INPUT_CPU:
        return min(len(before), len(after)) >= LEAST_RUNS
    # Times of one machine change from hour to hour: a gate on them would close by chance.
    return not any(
        CPU in report.measurements[name].source
        for report in (*before, *after)
        if name in report.measurements
    )


def lost(before: Sequence[Report], after: Sequence[Report]) -> tuple[str, ...]:
    """Figures that can regress and are missing on the second side."""
    return tuple(
        name
        for name, measured in before[0].measurements.items()
        if name in GATED
        and name != INPUT_CPU
        and CPU not in measured.source
        and _number(measured.value) is not None
        and any(_value(name, report) is None for report in after)
    )


def hardware(report: Report) -> dict[str, Value]:
    """The hardware on which a report's figures were taken."""
    return {n: report.measurements[n].value for n in HARDWARE if n in report.measurements}


def other_hardware(before: Sequence[Report], after: Sequence[Report]) -> str | None:
    """The difference in hardware between the sides; None where equal or unknown."""
    first = hardware(before[0])
    for report in (*before[1:], *after):
        # A job's report names no device: only between two profiles does a missing name mean no
        # device.
        profiles = report.subject.kind == before[0].subject.kind == "profile"
        if profiles and bool(first) != bool(hardware(report)):
            return "a TPU on one side, none on the other"
        for name, value in hardware(report).items():
            if name in first and first[name] != value:
                return f"{name} {first[name]} and {value}"
    return None


def samples(report: Report) -> Samples:
    """The figures by step kept in a report of `read`."""
    return {each.name: each.values for each in report.samples}


def _by_step(name: str, samples: Samples) -> tuple[float, ...]:
    """A figure's values by step, after warm-up; empty where it has none."""
    steps = samples.get(STEP_MS, ())
    steps = steps[warm_up(steps) :]
    if name == "examples_per_second":
        # Without the batch, which is the same in all steps and cancels in the ratio of two runs.
        return tuple(1 / ms for ms in steps if ms > 0)
    return steps if name in OF_STEPS else samples.get(name, ())


def _values(name: str, unit: str, reports: Sequence[Report]) -> list[float]:
    """The figure of each run of a side; empty where one lacks it or has another unit."""
    values = [_value(name, report) for report in reports]
    units = {report.measurements[name].unit for report in reports if name in report.measurements}
    return [v for v in values if v is not None] if None not in values and units == {unit} else []


def _value(name: str, report: Report) -> float | None:
    measurement = report.measurements.get(name)
    return None if measurement is None else _number(measurement.value)


def _change(
    name: str,
    unit: str,
    sides: Sequence[Sequence[float]],
    reports: tuple[Sequence[Report], Sequence[Report]],
) -> Change:
    """A relative change of the means of each side's runs."""
    base, now = fmean(sides[0]), fmean(sides[1])
    statistic = GATED.get(name, "median")
    by_step = [[_by_step(name, samples(report)) for report in side] for side in reports]
    # Runs where there are enough of them: the steps of one run share its machine and hour, and do
    # not represent other runs.
    several = min(map(len, sides)) >= LEAST_RUNS
    tested = runs_difference(*sides)
    if not several:
        tested = difference(by_step[0][0], by_step[1][0], statistic)
    noise = [n for side in by_step for s in side if (n := within(s, statistic)) is not None]
    return Change(
        name=name,
        unit=unit,
        before=base,
        after=now,
        change=now / base - 1 if base > 0 else 0.0 if now == base else None,
        difference=tested,
        steps=(len(by_step[0][0]), len(by_step[1][0])),
        runs=(len(sides[0]), len(sides[1])),
        between=max(map(spread, sides)) if several else None,
        within=max(noise) if noise else None,
    )


def _number(value: Value | None) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)


def ranked(differences: Sequence[Change]) -> Iterator[Change]:
    """Figures that can regress first, in the order of GATED."""
    order = list(GATED)
    yield from sorted(
        differences,
        key=lambda c: order.index(c.name) if c.name in GATED and c.gated else len(order),
    )
