"""A comparison of two sides as a report: profiles or saved reports, one or more runs each."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from tpudiag.diagnoses import growth
from tpudiag.diagnoses.changes import (
    COMPILED,
    GATED,
    OF_STEPS,
    STEP_MS,
    Change,
    ranked,
    same_compiler,
)
from tpudiag.diagnoses.profile_places import SLOWEST_STEP, USUAL_STEP
from tpudiag.model import Report, Subject, Verdict
from tpudiag.report_figures import Measurement, Table, Value, XProfLink
from tpudiag.statistics import LEAST, RUNS_TEST, TEST
from tpudiag.xprof_pages import MEMORY_PROFILE, OP_PROFILE, ROOFLINE

SHOWN_BY: Mapping[str, Sequence[str]] = {
    "step_time_ms": (USUAL_STEP, OP_PROFILE),
    "examples_per_second": (USUAL_STEP, OP_PROFILE),
    "step_time_mean_ms": (SLOWEST_STEP,),
    "step_time_p90_ms": (SLOWEST_STEP,),
    "mxu_utilization": (ROOFLINE,),
    "peak_memory_bytes": (MEMORY_PROFILE,),
}
"""By figure, the places in either run that show it."""


def links(
    before: Report, after: Report, changes: Sequence[Change], limit: float
) -> Iterator[XProfLink]:
    """Links in both runs to what regressed beyond the limit; in B alone to new findings.

    Runs that no XProf shows, and saved reports without links, have none.
    """
    worse = [c.name for c in ranked(changes) if c.regressed(limit) or c.unsure(limit)]
    for place in dict.fromkeys(place for name in worse for place in SHOWN_BY.get(name, ())):
        for letter, report in (("A", before), ("B", after)):
            for link in report.xprof_links:
                if link.name == place:
                    yield XProfLink(name=f"{letter}, {place}", url=link.url)
    old = {o.id for o in before.outcomes if o.verdict is Verdict.FAILED}
    for outcome in after.outcomes:
        urls = [f.xprof_link for f in outcome.findings if f.xprof_link is not None]
        if urls and outcome.id not in old:
            yield XProfLink(name=f"B, {outcome.id} {outcome.name}", url=urls[0])


DEFAULT_LIMIT = 0.05
"""The default limit, above which a change is a regression."""
ABOUT = (
    "hosts", "devices", "chips", "steps", "profile_bytes", "capture_ms", "peak_compute",
    "peak_hbm_bandwidth", "memory_capacity_bytes",
)  # fmt: skip
"""Figures of the recording's extent, not of speed."""
ONE_VALUE = "one value each: not tested"
ONE_RUN = (
    "More than noise means: a {test}. Steps of one run are compared; what differs from run to run "
    "of the same code (another machine, other neighbours) is not in it: `tpudiag compare A1 A2 A3 "
    "-- B1 B2 B3` takes it in."
)
SEVERAL_RUNS = (
    "More than noise means: {test}, of {a} and {b} runs. Between runs of one side {figure} differs "
    "by {between:.1%}{within}."
)
Sides = tuple[Sequence[Report], Sequence[Report]]
Names = tuple[Sequence[str], Sequence[str]]


def report(
    names: Names, sides: Sides, changes: Sequence[Change], limit: float, across: str | None = None
) -> Report:
    """The comparison as a report; `across` says how the sides' hardware differs."""
    before, after = sides[0][0], sides[1][0]
    partial = [
        f"{name}: {run.partial}"
        for side, runs in zip(names, sides, strict=True)
        for name, run in zip(side, runs, strict=True)
        if run.partial
    ]
    return Report(
        subject=Subject("profile", " -> ".join(" ".join(side) for side in names)),
        target=after.target if after.target == before.target else None,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        outcomes=(),
        measurements={
            f"{c.name}_change": Measurement(100 * c.change, "%", _test(c))
            for c in changes
            if c.change is not None and c.name in GATED and c.gated
        },
        tables=(_table(changes, limit), *growth.tables(before, after), *_checks(before, after)),
        headline=_headline(changes, limit, across is not None),
        notes=tuple(_notes(names, sides, changes, across)),
        partial="; ".join(partial) or None,
        shortfall="part" if partial else None,
        xprof_links=tuple(links(before, after, changes, limit)),
    )


def unsure(changes: Sequence[Change], limit: float) -> str | None:
    """Changes above the limit that may be noise; None for none."""
    figures = [f"{c.name} {_percent(c)}" for c in ranked(changes) if c.unsure(limit)]
    if not figures:
        return None
    steps = next(c.steps for c in changes if c.unsure(limit))
    return (
        f"{', '.join(figures)}: not tested ({steps[0]} and {steps[1]} steps, at least {LEAST} are "
        "needed), so neither a regression nor none; record more steps (--strict fails here)"
    )


def _headline(changes: Sequence[Change], limit: float, across: bool) -> str:
    changes = list(ranked(changes))
    worse = [change for change in changes if change.regressed(limit)]
    better = [c for c in changes if (c.worse or 0) < -limit and c.proved]
    if worse:
        figures = ", ".join(f"{c.name} {_percent(c)}" for c in worse)
        return f"Regressed by more than {limit:.1%}: {figures}."
    untested = unsure(changes, limit)
    # Too few steps to test is no pass, and comes before any good news.
    if untested and not across:
        return f"Not tested: {untested.partition(', so ')[0]}."
    if better:
        return f"Improved: {', '.join(f'{c.name} {_percent(c)}' for c in better)}."
    if across:
        return "Other hardware: only shares of each chip's peak compare, and none of them fell."
    step = next((c for c in changes if c.name == STEP_MS), None)
    # Times of rehearsals are those of this machine, and no speed on a TPU.
    if step is None or not step.gated:
        if any(c.name in COMPILED and c.worse is not None for c in changes):
            return f"No regression above {limit:.1%} in the TPU compiler's program."
        return "No step time on both sides: nothing is said about speed."
    mean = next((c for c in changes if c.name == OF_STEPS[1]), None)
    also = f" (mean {_percent(mean)})" if mean else ""
    return f"No regression above {limit:.1%}: step time {_percent(step)}{also}, {_test(step)}."


def _percent(change: Change) -> str:
    return "from 0" if change.change is None else f"{change.change:+.1%}"


def _test(change: Change) -> str:
    difference = change.difference
    if difference is None and any(change.steps):
        return f"{change.steps[0]} and {change.steps[1]} steps are too few to test ({LEAST})"
    if difference is None:
        return ONE_VALUE
    verdict = "more than noise" if difference.significant else "no more than noise"
    return f"{verdict} (95 % interval {_interval(change)}, p = {difference.p_value:.2g})"


def _verdict(change: Change, limit: float) -> str:
    if change.regressed(limit):
        return "REGRESSED"
    if change.unsure(limit):
        return "not tested"
    worse = change.worse
    if change.difference is not None and not change.difference.significant:
        return "noise"
    if worse is None:
        return "more than noise" if change.difference else "-"
    if not worse:
        return "-"
    return "worse, below the limit" if worse > 0 else "better"


def _table(changes: Sequence[Change], limit: float) -> Table:
    # The extent of the recording is shown only where it differs.
    shown = [c for c in changes if c.name not in ABOUT or c.change]
    ordered = sorted(ranked(shown), key=lambda c: c.name in ABOUT)
    # Leave out a column full of `not tested`, to make room for the figures' names.
    tested = any(c.difference is not None for c in ordered)
    rows: list[tuple[Value, ...]] = [
        (
            f"{c.name} ({c.unit})" if c.unit and not c.name.endswith(c.unit) else c.name,
            c.before,
            c.after,
            _percent(c),
            *((_interval(c),) if tested else ()),
            _verdict(c, limit),
        )
        for c in ordered
    ]
    columns = ("figure", "A", "B", "change", *(("95 % interval",) if tested else ()), "verdict")
    return Table("Changes", columns, tuple(rows), "both sides")


def _interval(change: Change) -> str:
    made = change.difference
    return "not tested" if made is None else f"{made.low:+.1%} to {made.high:+.1%}"


def _checks(before: Report, after: Report) -> Iterator[Table]:
    old = {outcome.id: outcome.verdict.value for outcome in before.outcomes}
    rows = tuple(
        (o.id, o.name, old[o.id], o.verdict.value)
        for o in after.outcomes
        if o.id in old and old[o.id] != o.verdict.value
    )
    if rows:
        yield Table("Checks that changed", ("id", "check", "A", "B"), rows, "both reports")


def _notes(
    names: Names, sides: Sides, changes: Sequence[Change], across: str | None
) -> Iterator[str]:
    """What was compared, and with which test."""
    for letter, side, runs in zip("AB", names, sides, strict=True):
        for number, (name, run) in enumerate(zip(side, runs, strict=True), 1):
            which = letter if len(side) == 1 else f"{letter}{number}"
            yield f"{which} is {name}: {run.headline or run.subject.name}"
    if across:
        yield f"The hardware differs ({across}): times and memory are shown, and not judged."
    several = next((c for c in ranked(changes) if c.between is not None), None)
    if several is not None:
        inner = f", within one run by {several.within:.1%}" if several.within is not None else ""
        yield SEVERAL_RUNS.format(
            test=RUNS_TEST,
            a=several.runs[0],
            b=several.runs[1],
            figure=several.name,
            between=several.between,
            within=inner,
        )
    elif any(change.difference for change in changes):
        yield ONE_RUN.format(test=TEST)
    elif any(all(change.steps) for change in changes):
        yield f"Too few steps on one side (at least {LEAST}): changes are shown untested."
    else:
        yield "No figure by step on both sides: changes are shown as they are, untested."
    yield from growth.notes(sides[0][0], sides[1][0])
    if not same_compiler(*sides):
        yield "The TPU compilers differ: what they say is shown, and closes no gate."
    if sides[0][0].target != sides[1][0].target:
        yield "A and B ran on different targets."
    jobs = [side[0].subject.name for side in sides if side[0].subject.kind == "job"]
    if len(set(jobs)) == 2:
        yield f"A and B are different jobs: {jobs[0]} and {jobs[1]}."
