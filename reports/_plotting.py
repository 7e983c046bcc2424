"""Data for the HTML report's plots: the plotting library, and the figures to draw."""

import base64
import gzip
import hashlib
import json
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, cast

from tpudiag.model import Report
from tpudiag.report_figures import PlanRow, Series

from ._words import figure, line

COMPRESSION = 5
PLAN_SOURCE = "TPU compiler"


@dataclass(frozen=True)
class Library:
    """A script, compressed for embedding, and what a Content-Security-Policy calls it."""

    packed: str
    """gzip, then base64."""
    hash: str


@dataclass(frozen=True)
class Plot:
    """A place for a plot, and in words what it shows."""

    id: str
    title: str
    summary: str
    source: str
    wide: bool = False


@cache
def library() -> Library:
    """Plotly's script; a third of its size, and the browser unpacks it."""
    from plotly.offline import get_plotlyjs

    script = get_plotlyjs().encode()
    # Without a time: the same report gives the same bytes.
    packed = gzip.compress(script, COMPRESSION, mtime=0)
    return Library(base64.b64encode(packed).decode(), script_hash(script))


def script_hash(script: bytes) -> str:
    """The source expression that lets a policy run this script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


def plots(report: Report) -> Iterator[Plot]:
    """The plots that the report has figures for."""
    steps = _kind(report, "step_time")
    if steps and steps[0].y:
        caption = _spread(steps[0].y)
        yield Plot("steps", "Step time", caption, _sources(steps))
        yield Plot("distribution", "Distribution of the step time", caption, _sources(steps))
    if parts := _kind(report, "step_part"):
        yield Plot("parts", "Where the step goes", _shares(parts), _sources(parts), wide=True)
    if uses := _kind(report, "ledger"):
        title = "Where the time went"
        yield Plot("ledger", title, _uses(report), _sources(uses), wide=True)
    if report.predictions:
        caption = "; ".join(
            f"{line(step.target)}: {figure(step.step_ms, 'ms')} ({figure(step.low_ms, 'ms')} to "
            f"{figure(step.high_ms, 'ms')}), bound by {line(step.bound_by)}"
            for step in report.predictions
        )
        whence = "predicted, not measured"
        yield Plot("prediction", "The predicted step", caption, whence, wide=True)
    if points := [each for each in _kind(report, "roofline") if each.limit is not None]:
        yield Plot("roofline", "Roofline", _near_roof(points[0]), _sources(points), wide=True)
    if memory := _kind(report, "memory"):
        yield Plot("memory", "Memory over time", _fullest(memory), _sources(memory), wide=True)
    if any(row.fits is not None for row in report.plan):
        caption = _wall(report.plan)
        yield Plot("plan", "Batch against throughput", caption, PLAN_SOURCE, wide=True)
    if replicas := _kind(report, "replica_step"):
        title = "Replicas: own time of each step"
        yield Plot("replicas", title, _slowest(replicas), _sources(replicas), wide=True)


def data(report: Report) -> str:
    """The figures as JSON that may stand within a script element, named as in the JSON report."""
    figures: dict[str, Iterable[Any]] = {
        "series": report.series,
        "plan": [row for row in report.plan if row.fits is not None],
        "predictions": [replace(s, instructions=(), operations=()) for s in report.predictions],
    }
    content = {kind: [_shown(asdict(each)) for each in of] for kind, of in figures.items()}
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shown(value: object) -> object:
    """A text made harmless, on one line; null for a number that JSON has no word for."""
    if isinstance(value, str):
        return line(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return {line(name): _shown(each) for name, each in pairs}
    return [_shown(each) for each in cast("Any", value)] if isinstance(value, tuple) else value


def _kind(report: Report, kind: str) -> list[Series]:
    return [series for series in report.series if series.kind == kind]


def _sources(series: Sequence[Series]) -> str:
    return ", ".join(dict.fromkeys(line(each.source) for each in series))


def _known(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _spread(y: Sequence[float]) -> str:
    """`20 steps: median 12 ms, longest 31 ms`."""
    known = _known(y)
    if not known:
        return "no step was measured"
    median, longest = statistics.median(known), max(known)
    count = "1 step" if len(known) == 1 else f"{len(known):,} steps"
    return f"{count}: median {figure(median, 'ms')}, longest {figure(longest, 'ms')}"


def _shares(parts: Sequence[Series]) -> str:
    sums = {line(part.name): sum(_known(part.y)) for part in parts}
    whole = sum(sums.values())
    ordered = sorted(sums.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {ms / whole:.0%}" for name, ms in ordered) if whole else ""


def _uses(report: Report) -> str:
    rows = next((t.rows for t in report.tables if t.title == "Where the time went"), ())
    uses = [[line(str(cell)) for cell in row] for row in rows if len(row) > 2]
    return ", ".join(f"{row[0]} {row[1]} ({row[2]})" for row in uses)


def _near_roof(points: Series) -> str:
    reached = [
        y / roof
        for x, y in zip(points.x, points.y, strict=False)
        # The roof rises with what the memory gives for each FLOP, up to the chip's peak.
        if (roof := min(points.limit or 0.0, x * (points.limit_per_x or math.inf))) > 0
    ]
    best = f", the best at {max(reached):.0%} of its roof" if reached else ""
    return f"{len(points.x)} {line(points.name)} with FLOPs{best}"


def _fullest(memory: Sequence[Series]) -> str:
    peaks = [(max(_known(each.y), default=0.0), each) for each in memory]
    peak, where = max(peaks, key=lambda item: item[0])
    words = f"peak {figure(peak, 'bytes')} on {line(where.name)}"
    limit = where.limit
    return words if limit is None else f"{words}, of {figure(limit, 'bytes')} that it may use"


def _slowest(replicas: Sequence[Series]) -> str:
    means = {line(r.name): statistics.fmean(_known(r.y)) for r in replicas if _known(r.y)}
    if not means:
        return ""
    slowest, middle = max(means, key=lambda name: means[name]), statistics.median(means.values())
    return (
        f"{slowest} is slowest: {figure(means[slowest], 'ms')} a step, the median replica "
        f"{figure(middle, 'ms')}; collectives, in which the fast wait, are left out"
    )


def _wall(plan: Sequence[PlanRow]) -> str:
    """Where memory ends, by target."""
    walls: list[str] = []
    for target in dict.fromkeys(row.target for row in plan):
        own = [row for row in plan if row.target == target and row.fits is not None]
        fitting = [row.batch_per_replica for row in own if row.fits]
        most = f"{figure(max(fitting))} is the largest that fits" if fitting else "none fits"
        words = "all fit" if len(fitting) == len(own) else most
        walls.append(f"{line(target)}: {words}")
    return "; ".join(walls)
