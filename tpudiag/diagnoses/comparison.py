"""Two reports held against each other: what changed, and whether by more than noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from statistics import median

from tpudiag.model import Measurement, Report, Subject, Table, Value
from tpudiag.statistics import LEAST, TEST, Difference, difference

GATED = {
    "step_time_ms": 50, "step_time_p90_ms": 90, "examples_per_second": None,
    "mxu_utilization": None, "peak_memory_bytes": None, "peak_hbm_bytes": None,
}  # fmt: skip
"""Figures that can regress, and the percentile of the steps that they are."""
HIGHER_IS_BETTER = ("examples_per_second", "mxu_utilization", "compute_16bit_share")
MEDIAN = 50
STEP_FIGURES = ("step_time_ms", "step_time_p90_ms")
ABOUT = ("hosts", "devices", "chips", "steps", "profile_bytes", "capture_ms", "peak_compute",
         "peak_hbm_bandwidth", "memory_capacity_bytes")  # fmt: skip
"""Figures of what was recorded, not of how fast it was."""
ONE_VALUE = "one value each: not tested"
NOTE = (
    "More than noise means: a {test}. Steps of one run are compared; what differs from run to run "
    "of the same code (another machine, other neighbours) is not in it."
)
Samples = dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Change:
    """One figure on both sides; `change` is relative to the first, None from 0 or to nothing."""

    name: str
    unit: str
    before: float
    after: float
    change: float | None
    difference: Difference | None
    """The test over steps; None where there is one value each, or too few."""
    steps: tuple[int, int] = (0, 0)
    """Values by step on both sides."""

    @property
    def worse(self) -> float | None:
        """By how much it got worse, relative; negative where it got better."""
        if self.change is None or self.name not in GATED:
            return None
        return -self.change if self.name in HIGHER_IS_BETTER else self.change

    @property
    def proved(self) -> bool:
        """Whether it is more than noise; a figure of one value is taken as it is."""
        return self.difference is None or self.difference.significant

    def regressed(self, limit: float) -> bool:
        """Whether it got worse by more than the limit, and by more than noise where tested."""
        return self.worse is not None and self.worse > limit and self.proved


def changes(before: Report, after: Report) -> tuple[Change, ...]:
    """Every figure that both reports hold as a number, in the first one's order."""
    left, right = samples(before), samples(after)
    found: list[Change] = []
    for name, measurement in before.measurements.items():
        other = after.measurements.get(name)
        if other is None or other.unit != measurement.unit:
            continue
        base, now = _number(measurement.value), _number(other.value)
        if base is None or now is None:
            continue
        series = _by_step(name, left), _by_step(name, right)
        found.append(_change(name, measurement.unit, (base, now), series))
    for name in [n for n in left if n in right and n not in before.measurements]:
        if left[name] and right[name]:
            ends = median(left[name]), median(right[name])
            found.append(_change(name, "ms", ends, (left[name], right[name])))
    return tuple(found)


def lost(before: Report, after: Report) -> tuple[str, ...]:
    """Figures that can regress and that only the first report holds."""
    held = [n for n, m in before.measurements.items() if _number(m.value) is not None]
    now = {name: _number(m.value) for name, m in after.measurements.items()}
    return tuple(name for name in held if name in GATED and now.get(name) is None)


def _by_step(name: str, found: Samples) -> tuple[float, ...]:
    """The values by step that a figure is made from; none where it is not made from steps."""
    steps = found.get(STEP_FIGURES[0], ())
    if name == "examples_per_second":
        return tuple(1 / ms for ms in steps if ms > 0)
    return steps if name in STEP_FIGURES else found.get(name, ())


def samples(report: Report) -> Samples:
    """The figures by step that a report of `read` keeps."""
    return {each.name: each.values for each in report.samples}


def report(
    names: tuple[str, str], reports: tuple[Report, Report], found: Sequence[Change], limit: float
) -> Report:
    """The comparison as a report, for the same renderers."""
    before, after = reports
    partial = [
        f"{name}: {side.partial}" for name, side in zip(names, reports, strict=True) if side.partial
    ]
    return Report(
        subject=Subject("profile", f"{names[0]} -> {names[1]}"),
        target=after.target if after.target == before.target else None,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        outcomes=(),
        measurements={f"{c.name}_change": Measurement(100 * c.change, "%", _test(c)) for c in found
         if c.change is not None and c.name in GATED},
        tables=(_table(found, limit), *_checks(before, after)),
        headline=_headline(found, limit),
        notes=tuple(_notes(names, reports, found)),
        partial="; ".join(partial) or None,
    )  # fmt: skip


def _change(
    name: str, unit: str, ends: tuple[float, float],
    series: tuple[Sequence[float], Sequence[float]],
) -> Change:  # fmt: skip
    """A change, relative to what was before."""
    before, after = ends
    change = after / before - 1 if before > 0 else 0.0 if after == before else None
    tested = difference(*series, GATED.get(name) or MEDIAN)
    return Change(name, unit, before, after, change, tested, (len(series[0]), len(series[1])))


def _headline(found: Sequence[Change], limit: float) -> str:
    """The verdict in one line."""
    found = sorted(found, key=_rank)
    worse = [change for change in found if change.regressed(limit)]
    better = [c for c in found if (c.worse or 0) < -limit and c.proved]
    if worse:
        said = ", ".join(f"{c.name} {_percent(c)}" for c in worse)
        return f"Regressed by more than {limit:.1%}: {said}."
    if better:
        return f"Improved: {', '.join(f'{c.name} {_percent(c)}' for c in better)}."
    step = next((c for c in found if c.name == STEP_FIGURES[0]), None)
    if step is None:
        return "No step time on both sides: nothing is said about speed."
    return f"No regression above {limit:.1%}: step time {_percent(step)}, {_test(step)}."


def _percent(change: Change) -> str:
    """`+5.2 %`."""
    return "from 0" if change.change is None else f"{change.change:+.1%}"


def _test(change: Change) -> str:
    """What the test over steps says."""
    found = change.difference
    if found is None and any(change.steps):
        return f"{change.steps[0]} and {change.steps[1]} steps are too few to test ({LEAST})"
    if found is None:
        return ONE_VALUE
    said = "more than noise" if found.significant else "no more than noise"
    return f"{said} (95 % interval {found.low:+.1%} to {found.high:+.1%}, p = {found.p_value:.2g})"


def _verdict(change: Change, limit: float) -> str:
    """One word for a row."""
    if change.regressed(limit):
        return "REGRESSED"
    worse = change.worse
    if change.difference is not None and not change.difference.significant:
        return "noise"
    if worse is None:
        return "more than noise" if change.difference else "-"
    if not worse:
        return "-"
    return "worse, below the limit" if worse > 0 else "better"


def _table(found: Sequence[Change], limit: float) -> Table:
    """Every change, those that can regress first."""
    shown = [c for c in found if c.name not in ABOUT or c.change]
    ordered = sorted(shown, key=lambda c: (_rank(c), c.name in ABOUT))
    rows: list[tuple[Value, ...]] = [
        (
            f"{c.name} ({c.unit})" if c.unit and not c.name.endswith(c.unit) else c.name,
            c.before, c.after, _percent(c), _interval(c), _verdict(c, limit),
        )
        for c in ordered
    ]  # fmt: skip
    columns = ("figure", "A", "B", "change", "95 % interval", "verdict")
    return Table("Changes", columns, tuple(rows), "both reports")


def _rank(change: Change) -> int:
    """Its place: figures that can regress come first."""
    return list(GATED).index(change.name) if change.name in GATED else len(GATED)


def _interval(change: Change) -> str:
    """The confidence interval of the change."""
    found = change.difference
    return "not tested" if found is None else f"{found.low:+.1%} to {found.high:+.1%}"


def _checks(before: Report, after: Report) -> Iterator[Table]:
    """Checks whose verdict changed."""
    old = {outcome.id: outcome.verdict.value for outcome in before.outcomes}
    rows = tuple(
        (o.id, o.name, old[o.id], o.verdict.value)
        for o in after.outcomes
        if o.id in old and old[o.id] != o.verdict.value
    )
    if rows:
        yield Table("Checks that changed", ("id", "check", "A", "B"), rows, "both reports")


def _notes(
    names: tuple[str, str], reports: tuple[Report, Report], found: Sequence[Change]
) -> Iterator[str]:
    """What was compared, and by which test."""
    for letter, name, side in zip("AB", names, reports, strict=True):
        yield f"{letter} is {name}: {side.headline or side.subject.name}"
    if any(change.difference for change in found):
        yield NOTE.format(test=TEST)
    elif any(all(change.steps) for change in found):
        yield f"Too few steps on one side (at least {LEAST}): changes are shown untested."
    else:
        yield "No figure by step on both sides: changes are shown as they are, untested."
    if reports[0].target != reports[1].target:
        yield "A and B ran on different targets."


def _number(value: Value | None) -> float | None:
    """The value where it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)
