"""The tables of a profile, for any report that shows one."""

from collections.abc import Iterator, Mapping, Sequence

from tpudiag.diagnoses.profile_figures import percentile, profile_of
from tpudiag.diagnoses.profile_operations import TOP, operations
from tpudiag.diagnoses.report_parts import count
from tpudiag.report_figures import StepSamples, Table, Value
from tpudiag.signals import ProfileFacts, Signals
from tpudiag.signals.profile import UNTOLD
from tpudiag.sources.profile.xprof_says import XProfSays

SEEN = 0.0005
"""Parts below this share of all steps have no column."""
ROWS = 10
"""Rows of a table; its title counts the rest."""
SAMPLES = 200
"""Values kept of each figure for `tpudiag compare`; more are thinned out evenly."""


def tables(signals: Signals, xprof_says: XProfSays, top: int = TOP) -> Iterator[Table]:
    """Where the step time goes, replicas, operations, input, memory, and XProf's statements."""
    facts = profile_of(signals)
    if any(replica.step_ms for replica in facts.replicas):
        yield _breakdown(facts)
    longest, *others = tuple(operations(facts, top)) or (None,)
    if longest is not None:
        yield longest
    if len(facts.replicas) > 1:
        yield from _replicas(facts)
    window = facts.window_ms
    rows = [(w.cause, w.ms, round(100 * w.ms / window, 2)) for w in facts.waits if window]
    seen = [row for row in rows if row[2] >= 100 * SEEN]
    heads = ("waits for", "ms", "% of window")
    source = f"{facts.source}, all devices"
    yield from _cut("What the devices wait for", heads, seen, source, "longest")
    yield from others
    idlest = sorted(facts.devices, key=lambda device: -device.idle_share)
    shown = facts.devices if len(facts.devices) <= ROWS else idlest
    devices = [(d.host, d.name, d.busy_ms, d.window_ms, 100 * d.idle_share) for d in shown]
    columns = ("host", "device", "busy ms", "window ms", "idle %")
    yield from _cut("Devices", columns, devices, f"{facts.source}, XLA Modules", "idlest")
    programs = ("program", "runs", "ms a run")
    yield from _cut("Programs", programs, facts.runs, f"{facts.source}, XLA Modules")
    yield from _host_tables(facts)
    yield from _memory(facts)
    clocks = [(clock.host, clock.ahead_ms) for clock in facts.clocks]
    if len(clocks) > ROWS:
        clocks.sort(key=lambda clock: -abs(clock[1]))
    ahead = ("host", "ms ahead of the first")
    yield from _cut("Clock differences", ahead, clocks, "profile, ends of common steps", "largest")
    hosts = [(host.name, host.reason) for host in facts.unread]
    yield from _cut("Hosts that could not be read", ("host", "why"), hosts, "profile")
    if xprof_says.figures:
        source = "xprof, overview page"
        yield Table("What XProf says", ("figure", "value"), xprof_says.figures, source)


def _cut(
    title: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[Value, ...]],
    source: str,
    order: str = "first",
) -> Iterator[Table]:
    """The first rows, which the title says where there are more; no table without any."""
    if rows:
        whole = len(rows) <= ROWS
        name = title if whole else f"{title}: the {ROWS} {order} of {len(rows)}"
        yield Table(name, columns, tuple(rows[:ROWS]), source)


def _breakdown(facts: ProfileFacts) -> Table:
    """Each part of the step over all replicas and steps: share, mean and percentiles."""
    steady = [replica.steady for replica in facts.replicas]
    whole = sum(sum(replica.step_ms) for replica in steady)
    values: dict[str, list[float]] = {}
    for replica in steady:
        for part in replica.parts:
            values.setdefault(part.name, []).extend(part.ms)
    values["whole step"] = [ms for replica in steady for ms in replica.step_ms]
    rows: list[tuple[Value, ...]] = []
    for name, ms in values.items():
        share = 100 * sum(ms) / whole if whole else 0.0
        rest = (percentile(ms, p) for p in (50, 90, 99, 100))
        rows.append((name, share, sum(ms) / max(len(ms), 1), *rest))
    columns = ("part", "% of step", "mean ms", "p50 ms", "p90 ms", "p99 ms", "max ms")
    replicas = count(len(facts.replicas), "replica")
    return Table("Where the step time goes", columns, tuple(rows), f"{facts.source}, {replicas}")


def _replicas(facts: ProfileFacts) -> Iterator[Table]:
    """Each replica's mean step in parts, slowest own work first."""
    whole = sum(sum(replica.step_ms) for replica in facts.replicas)
    names = [n for n in facts.part_names if sum(r.part(n) for r in facts.replicas) > SEEN * whole]
    rows: list[tuple[Value, ...]] = []
    steady = (replica.steady for replica in facts.replicas if replica.step_ms)
    # By own work: the whole step is equally long on all replicas of a synchronous job.
    for replica in sorted(steady, key=lambda r: -r.mean_ms("collectives", UNTOLD)):
        parts = (replica.part(name) / len(replica.step_ms) for name in names)
        rows.append((replica.host, replica.replica, replica.mean_ms(), *parts))
    columns = ("host", "replica", "step ms", *(f"{name} ms" for name in names))
    yield from _cut("Replicas, mean of their steps", columns, rows, facts.source, "slowest")


def _host_tables(facts: ProfileFacts) -> Iterator[Table]:
    """tf.functions, the input pipeline, and calls back to the host."""
    source = f"{facts.source}, host"
    rows = [(f.name, f.calls, f.traces) for f in facts.functions or ()]
    heads = ("tf.function", "calls", "of them traced")
    yield from _cut("Calls of tf.functions", heads, rows, source, "most called")
    eager = [(op.op, op.count, op.ms) for op in facts.eager_ops or ()]
    yield from _cut("Ops that ran eagerly", ("op", "calls", "ms"), eager, source)
    ordered = sorted(facts.iterators or (), key=lambda i: (-i.blocked_ms, -i.self_ms))
    places = [f"{i.position + 1} of {i.of + 1}" for i in ordered]
    waits = [
        (i.op, place, i.blocked_ms, i.self_ms, i.count, i.longest_ms, i.name)
        for i, place in zip(ordered, places, strict=True)
    ]
    columns = (
        "tf.data op", "from source", "blocked ms", "self ms", "calls", "longest ms", "path",
    )  # fmt: skip
    yield from _cut("Input pipeline", columns, waits, source, "most blocking")
    calls = [(c.op, "step", c.count, c.ms) for c in facts.callbacks or ()]
    calls += [(c.op, "input pipeline", c.count, c.ms) for c in facts.pipeline_callbacks]
    yield from _cut("Calls back to the host", ("op", "in", "calls", "ms"), calls, source)


def _memory(facts: ProfileFacts) -> Iterator[Table]:
    if not facts.memory:
        return
    ordered = facts.memory_in_order
    rows: list[tuple[Value, ...]] = [
        (
            m.host,
            m.allocator,
            m.peak_bytes / 2**30,
            m.capacity_bytes / 2**30 if m.capacity_bytes else "-",
            "-" if m.fragmentation is None else round(100 * m.fragmentation, 2),
            m.at_ms,
        )
        for m in ordered
    ]
    columns = ("host", "allocator", "peak GiB", "capacity GiB", "fragmented %", "at ms")
    source = f"{facts.source}, allocation events"
    yield from _cut("Peak memory", columns, rows, source, "fullest")
    fullest = ordered[0]
    held: list[tuple[Value, ...]] = [
        (name, size / 2**30, 100 * size / max(fullest.peak_bytes, 1))
        for name, size in fullest.held_by
    ]
    title = f"What held the highest peak ({fullest.host}, {fullest.allocator})"
    yield Table(title, ("what", "GiB", "% of peak"), tuple(held), source)


def samples(signals: Signals) -> tuple[StepSamples, ...]:
    """Figures by step, to test whether two profiles differ by more than noise."""
    facts, steps = signals.profile, signals.steps
    if facts is None or steps is None:
        return ()
    series: dict[str, Sequence[float]] = {"step_time_ms": steps.step_ms}
    if steps.input_wait_ms is not None:
        series["input_wait_ms"] = steps.input_wait_ms
    for name in facts.part_names:
        parts = [p.ms for r in facts.replicas for p in r.parts if p.name == name]
        # Replicas with different numbers of steps have no common step to average.
        if len({len(ms) for ms in parts}) == 1:
            means = [sum(ms) / len(parts) for ms in zip(*parts, strict=True)]
            series[f"{name.replace(' ', '_')}_ms"] = means
    series |= _mxu_by_step(series, facts)
    return tuple(
        StepSamples(name, "%" if name == "mxu_utilization" else "ms", _thinned(values))
        for name, values in series.items()
    )


def _mxu_by_step(
    series: Mapping[str, Sequence[float]], facts: ProfileFacts
) -> dict[str, Sequence[float]]:
    """MXU utilisation by step, in %: all steps have equal FLOPs, but not equal times."""
    parts = [series[name] for name in ("compute_ms", "collectives_ms") if name in series]
    work = [sum(ms) for ms in zip(*parts, strict=True)]
    if facts.mxu_share is None or not work or min(work) <= 0:
        return {}
    mean = sum(work) / len(work)
    return {"mxu_utilization": [100 * facts.mxu_share * mean / ms for ms in work]}


def _thinned(values: Sequence[float]) -> tuple[float, ...]:
    stride = max(len(values) / SAMPLES, 1.0)
    chosen = [values[int(i * stride)] for i in range(min(len(values), SAMPLES))]
    # Six digits: a saved report holds thousands of these.
    return tuple(float(f"{value:.6g}") for value in chosen)
