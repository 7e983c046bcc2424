"""What the HTML report's plots need: the plotting library, and the figures to draw."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tpudiag.model import Report, Series, Table, Value

from ._words import clean, figure, line

COMPRESSION = 5
_NO = ("no", "oom", "false", "0", "")


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
    source, rows = _plan(report)
    if rows:
        yield Plot("plan", "Batch against throughput", _wall(rows), source, wide=True)
    if replicas := _kind(report, "replica_step"):
        title = "Replicas: own time of each step"
        yield Plot("replicas", title, _slowest(replicas), _sources(replicas), wide=True)


def data(report: Report) -> str:
    """The figures as JSON that may stand within a script element."""
    content: dict[str, object] = {
        "series": [_series(series) for series in report.series],
        "plan": _plan(report)[1],
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


def _plan(report: Report) -> tuple[str, list[dict[str, object]]]:
    """Source and rows of the first table that sets batch sizes against throughput."""
    for table in report.tables:
        if rows := _plan_rows(table):
            return line(table.source), rows
    return "", []


def _plan_rows(table: Table) -> list[dict[str, object]]:
    """Batch sizes and their throughput, where the table holds such; not fitting has no rate."""
    heads = [clean(column).lower() for column in table.columns]
    batch = _column(heads, "global batch", "batch")
    rate = _column(heads, "examples/s", "predicted examples/s", "throughput")
    fits = _column(heads, "fits", "fits in hbm")
    target = _column(heads, "target", "tpu", "generation", "for")
    if batch is None or rate is None:
        return []
    return [
        {
            "target": "" if target is None else line(str(row[target])),
            "batch": row[batch],
            "rate": _rate(row[rate]),
            "fits": fits is None or _true(row[fits]),
        }
        for row in table.rows
        if len(row) == len(heads) and _rate(row[batch]) is not None
    ]


def _column(heads: Sequence[str], *names: str) -> int | None:
    """The first column of one of these names, or that begins so."""
    for name in names:
        for index, head in enumerate(heads):
            if head == name or head.startswith((f"{name} ", f"{name},")):
                return index
    return None


def _rate(value: Value) -> float | None:
    """A number, None for a dash."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _finite(value) if is_number else None  # type: ignore[arg-type]  # pyright: ignore


def _true(value: Value) -> bool:
    """Whether a cell says yes."""
    return value if isinstance(value, bool) else line(str(value)).lower() not in _NO


def _wall(rows: Sequence[dict[str, object]]) -> str:
    """Where memory ends, by target."""
    said: list[str] = []
    for target in dict.fromkeys(str(row["target"]) for row in rows):
        own = [row for row in rows if row["target"] == target]
        fitting = [float(str(row["batch"])) for row in own if row["fits"]]
        name = f"{target}: " if target else ""
        most = f"{figure(max(fitting))} is the largest that fits" if fitting else "none fits"
        over = any(not row["fits"] for row in own)
        said.append(f"{name}{most if over or not fitting else 'all fit'}")
    return "; ".join(said)
