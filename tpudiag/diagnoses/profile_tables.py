"""The tables of a profile, for any report that shows one."""

from collections.abc import Iterator, Mapping, Sequence

from tpudiag.diagnoses.profile_figures import percentile, profile_of
from tpudiag.diagnoses.profile_operations import TOP, operations
from tpudiag.diagnoses.report_parts import count
from tpudiag.report_figures import StepSamples, Table, Value
from tpudiag.signals import ProfileFacts, ReplicaSteps, Signals
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
        yield _replicas(facts)
    window = sum(device.window_ms for device in facts.devices)
    rows = [(w.cause, w.ms, round(100 * w.ms / window, 2)) for w in facts.waits if window]
    seen = [row for row in rows if row[2] >= 100 * SEEN]
    if seen:
        yield _cut(
            "What the devices wait for",
            ("waits for", "ms", "% of window"),
            seen,
            f"{facts.source}, all devices",
            "longest",
        )
    yield from others
    if facts.devices:
        yield _devices(facts)
    if facts.runs:
        yield _cut(
            "Programs", ("program", "runs", "ms a run"), facts.runs, f"{facts.source}, XLA Modules"
        )
    yield from _host_tables(facts)
    yield from _memory(facts)
    if facts.clocks:
        clocks = [(clock.host, clock.ahead_ms) for clock in facts.clocks]
        if len(clocks) > ROWS:
            clocks.sort(key=lambda clock: -abs(clock[1]))
        yield _cut(
            "Clock differences",
            ("host", "ms ahead of the first"),
            clocks,
            "profile, ends of common steps",
            "largest",
        )
    if facts.unread:
        hosts = [(host.name, host.reason) for host in facts.unread]
        yield _cut("Hosts that could not be read", ("host", "why"), hosts, "profile")
    if xprof_says.figures:
        yield Table(
            "What XProf says", ("figure", "value"), xprof_says.figures, "xprof, overview page"
        )


def _cut(
    title: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[Value, ...]],
    source: str,
    order: str = "first",
) -> Table:
    whole = len(rows) <= ROWS
    name = title if whole else f"{title}: the {ROWS} {order} of {len(rows)}"
    return Table(name, columns, tuple(rows[:ROWS]), source)


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


def _replicas(facts: ProfileFacts) -> Table:
    """Each replica's mean step in parts, slowest own work first."""
    whole = sum(sum(replica.step_ms) for replica in facts.replicas)
    every = dict.fromkeys(part.name for r in facts.replicas for part in r.parts)
    names = tuple(n for n in every if sum(r.part(n) for r in facts.replicas) > SEEN * whole)
    rows: list[tuple[Value, ...]] = []
    steady = (replica.steady for replica in facts.replicas if replica.step_ms)
    # By own work: the whole step is equally long on all replicas of a synchronous job.
    for replica in sorted(steady, key=lambda r: -_own(r)):
        count_ = len(replica.step_ms)
        parts = (replica.part(name) / count_ for name in names)
        rows.append((replica.host, replica.replica, sum(replica.step_ms) / count_, *parts))
    columns = ("host", "replica", "step ms", *(f"{name} ms" for name in names))
    return _cut("Replicas, mean of their steps", columns, rows, facts.source, "slowest")


def _own(replica: ReplicaSteps) -> float:
    """Its mean step without collectives, in which it waits for others, and unrecorded time."""
    others = replica.part("collectives", UNTOLD)
    return (sum(replica.step_ms) - others) / max(len(replica.step_ms), 1)


def _devices(facts: ProfileFacts) -> Table:
    idlest = sorted(facts.devices, key=lambda device: -device.idle_share)
    shown = facts.devices if len(facts.devices) <= ROWS else idlest
    rows = [(d.host, d.name, d.busy_ms, d.window_ms, 100 * d.idle_share) for d in shown]
    columns = ("host", "device", "busy ms", "window ms", "idle %")
    return _cut("Devices", columns, rows, f"{facts.source}, XLA Modules", "idlest")


def _host_tables(facts: ProfileFacts) -> Iterator[Table]:
    """tf.functions, the input pipeline, and calls back to the host."""
    if facts.functions:
        rows = [(f.name, f.calls, f.traces) for f in facts.functions]
        heads = ("tf.function", "calls", "of them traced")
        yield _cut("Calls of tf.functions", heads, rows, f"{facts.source}, host", "most called")
    if facts.eager_ops:
        eager = [(op.op, op.count, op.ms) for op in facts.eager_ops]
        yield _cut("Ops that ran eagerly", ("op", "calls", "ms"), eager, f"{facts.source}, host")
    if facts.iterators:
        ordered = sorted(facts.iterators, key=lambda i: (-i.blocked_ms, -i.self_ms))
        rows_ = [
            (
                i.op,
                f"{i.position + 1} of {i.of + 1}",
                i.blocked_ms,
                i.self_ms,
                i.count,
                i.longest_ms,
                i.name,
            )
            for i in ordered
        ]
        columns = (
            "tf.data op", "from source", "blocked ms", "self ms", "calls", "longest ms", "path",
        )  # fmt: skip
        yield _cut("Input pipeline", columns, rows_, f"{facts.source}, host", "most blocking")
    of_step, of_input = facts.callbacks or (), facts.pipeline_callbacks
    if of_step or of_input:
        calls = [(c.op, "step", c.count, c.ms) for c in of_step]
        calls += [(c.op, "input pipeline", c.count, c.ms) for c in of_input]
        heads_ = ("op", "in", "calls", "ms")
        yield _cut("Calls back to the host", heads_, calls, f"{facts.source}, host")


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
    yield _cut("Peak memory", columns, rows, source, "fullest")
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
    for name in dict.fromkeys(part.name for r in facts.replicas for part in r.parts):
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
