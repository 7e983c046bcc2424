"""What the HTML report's plots need: the plotting library, and the figures to draw."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache

from tpudiag.model import Report, Series, Table, Value

from ._words import figure, line

COMPRESSION = 5


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
    packed = gzip.compress(script, COMPRESSION, mtime=0)
    return Library(base64.b64encode(packed).decode(), script_hash(script))


def script_hash(script: bytes) -> str:
    """The source expression that lets a policy run this script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


def plots(report: Report) -> Iterator[Plot]:
    """The plots that the report has figures for."""
    steps = _kind(report, "step_time")
    if steps and steps[0].y:
        said = _spread(steps[0].y)
        yield Plot("steps", "Step time", said, _sources(steps))
        yield Plot("distribution", "Distribution of the step time", said, _sources(steps))
    if parts := _kind(report, "step_part"):
        yield Plot("parts", "Where the step goes", _shares(parts), _sources(parts), wide=True)
    if memory := _kind(report, "memory"):
        yield Plot("memory", "Memory over time", _fullest(memory), _sources(memory), wide=True)
    plan = _plan(report)
    if plan.rows:
        yield Plot("plan", "Batch against throughput", _wall(plan), plan.source, wide=True)
    if replicas := _kind(report, "replica_step"):
        title = "Replicas: own time of each step"
        yield Plot("replicas", title, _slowest(replicas), _sources(replicas), wide=True)


def data(report: Report) -> str:
    """The figures as JSON that may stand within a script element."""
    content: dict[str, object] = {
        "series": [_series(series) for series in report.series],
        "plan": asdict(_plan(report)),
    }
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _series(series: Series) -> dict[str, object]:
    """A series for the script; null is a gap."""
    return {
        "kind": series.kind,
        "name": line(series.name),
        "unit": line(series.unit),
        "x": [_finite(value) for value in series.x],
        "y": [_finite(value) for value in series.y],
        "limit": None if series.limit is None else _finite(series.limit),
    }


def _finite(value: float) -> float | None:
    """The number, or None where it is none."""
    return value if math.isfinite(value) else None


def _kind(report: Report, kind: str) -> list[Series]:
    """The series of a kind."""
    return [series for series in report.series if series.kind == kind]


def _sources(series: Sequence[Series]) -> str:
    """Where the figures came from."""
    return ", ".join(dict.fromkeys(line(each.source) for each in series))


def _known(values: Sequence[float]) -> list[float]:
    """Those that are numbers."""
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
    """The parts by their share of the step."""
    sums = {line(part.name): sum(_known(part.y)) for part in parts}
    whole = sum(sums.values())
    ordered = sorted(sums.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {ms / whole:.0%}" for name, ms in ordered) if whole else ""


def _fullest(memory: Sequence[Series]) -> str:
    """The highest peak and its limit."""
    peaks = [(max(_known(each.y), default=0.0), each) for each in memory]
    peak, where = max(peaks, key=lambda item: item[0])
    said = f"peak {figure(peak, 'bytes')} on {line(where.name)}"
    limit = where.limit
    return said if limit is None else f"{said}, of {figure(limit, 'bytes')} that it may use"


def _slowest(replicas: Sequence[Series]) -> str:
    """The replica whose own time is longest, and by how much."""
    means = {line(r.name): statistics.fmean(_known(r.y)) for r in replicas if _known(r.y)}
    if not means:
        return ""
    slowest, middle = max(means, key=lambda name: means[name]), statistics.median(means.values())
    return (
        f"{slowest} is slowest: {figure(means[slowest], 'ms')} a step, the median replica "
        f"{figure(middle, 'ms')}; collectives, in which the fast wait, are left out"
    )


@dataclass(frozen=True)
class _Batch:
    """A batch size on a target: what it gives, and whether it fits; None where not known."""

    target: str
    batch: float
    rate: float | None
    fits: bool


@dataclass(frozen=True)
class _Plan:
    """Batch sizes against throughput, with the words for both."""

    batch: str = ""
    rate: str = ""
    source: str = ""
    rows: tuple[_Batch, ...] = ()


def _plan(report: Report) -> _Plan:
    """The first table that sets batch sizes against throughput; empty where there is none."""
    return next((plan for table in report.tables if (plan := _plan_of(table)).rows), _Plan())


def _plan_of(table: Table) -> _Plan:
    """The batch sizes of a table, without those of which it is not known whether they fit."""
    heads = [line(column) for column in table.columns]
    batch = _column(heads, "global batch", "batch")
    rate = _column(heads, "examples/s", "ex/s", "throughput")
    target, fits = _column(heads, "target", "tpu"), _column(heads, "fits")
    if batch is None or rate is None:
        return _Plan()
    found: list[_Batch] = []
    for row in (row for row in table.rows if len(row) == len(heads)):
        size, fitting = _number(row[batch]), True if fits is None else _fits(row[fits])
        if size and fitting is not None:
            name = "" if target is None else line(str(row[target]))
            found.append(_Batch(name, size, _number(row[rate]), fitting))
    words = heads[rate].replace("ex/s", "examples/s").replace("/chip", " a chip")
    return _Plan(heads[batch], words, line(table.source), tuple(found))


def _column(heads: Sequence[str], *names: str) -> int | None:
    """The first column of one of these names, or that begins so."""
    for name in names:
        for index, head in enumerate(map(str.lower, heads)):
            if head == name or head.startswith((f"{name} ", f"{name},", f"{name}/")):
                return index
    return None


def _number(value: Value) -> float | None:
    """A number, None for a dash."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _finite(value)


def _fits(value: Value) -> bool | None:
    """What a cell says of it; None where it does not know."""
    said = line(str(value)).lower()
    return None if said in ("unknown", "", "-") else said not in ("no", "false", "oom")


def _wall(plan: _Plan) -> str:
    """Where memory ends, by target."""
    said: list[str] = []
    for target in dict.fromkeys(row.target for row in plan.rows):
        own = [row for row in plan.rows if row.target == target]
        fitting = [row.batch for row in own if row.fits]
        name = f"{target}: " if target else ""
        most = f"{figure(max(fitting))} is the largest that fits" if fitting else "none fits"
        said.append(f"{name}{'all fit' if len(fitting) == len(own) else most}")
    return "; ".join(said)
