"""Merges the summaries of a run's hosts into the facts of the run."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tpudiag.signals import (
    CallbackTime,
    Device,
    DeviceOp,
    HostClock,
    IteratorTime,
    ProfileFacts,
    StepTimes,
    TracedFunction,
    UnreadHost,
)
from tpudiag.signals.profile_hosts import DeviceWait
from tpudiag.sources.profile.host_summary import HostSummary
from tpudiag.sources.profile.lost_devices import absent, assigned
from tpudiag.sources.profile.operations import OpTotals, device_ops, padded
from tpudiag.sources.profile.programs import ProgramHlo
from tpudiag.sources.profile.run_steps import step_times

PADDED_KEPT = 50


@dataclass(frozen=True)
class _Peak:
    """What a chip can do per second, and how much of it an operation did."""

    amount: Callable[[DeviceOp], int | None]
    peak: Callable[[Device], float | None]
    unit: float
    most: float
    """A larger share of the peak is impossible."""


# Operands of 8 bits reach twice the peak of bfloat16.
FLOPS = _Peak(lambda op: op.flops, lambda d: d.peak_tflops, 1e12, 2.05)
HBM_BYTES = _Peak(lambda op: op.hbm_bytes, lambda d: d.peak_hbm_gb_per_s, 1e9, 1.05)


def merged(
    summaries: Sequence[HostSummary],
    totals: OpTotals,
    programs: Mapping[str, ProgramHlo],
    unread: Sequence[UnreadHost],
) -> tuple[ProfileFacts, StepTimes | None]:
    """The facts of a run from those of its hosts, and the operations and programs of all."""
    summaries = list(_apart(summaries))
    devices = _with_windows(summaries)
    hosts = [summary.steps for summary in summaries if summary.steps is not None]
    ops = device_ops(totals, devices, programs)
    runs = _runs(summaries)
    longest = programs.get(runs[0][0]) if runs else None
    shares = [s.eager_share for s in summaries if s.eager_share is not None]
    waits = sum((Counter(summary.waits) for summary in summaries), Counter[str]())
    facts = ProfileFacts(
        hosts=tuple(summary.host for summary in summaries),
        devices=devices,
        ops=ops,
        bytes_read=sum(summary.bytes for summary in summaries),
        warnings=tuple(warning for summary in summaries for warning in summary.warnings),
        started_ns=summaries[0].started_ns,
        capture_ms=summaries[0].capture_ms,
        replicas=tuple(replica for host in hosts for replica in host.replicas),
        runs=runs,
        functions=_functions([s.functions for s in summaries if s.functions is not None]),
        eager_share=max(shares, default=None),
        eager_ops=_callbacks([s.eager_ops for s in summaries if s.eager_ops is not None]),
        callbacks=_callbacks([s.callbacks for s in summaries if s.callbacks is not None]),
        pipeline_callbacks=_callbacks([s.pipeline_callbacks for s in summaries]) or (),
        iterators=_iterators([s.iterators for s in summaries if s.iterators is not None]),
        blockers=_blockers(summaries),
        memory=tuple(peak for s in summaries for peak in s.memory) or None,
        padded=padded(totals)[:PADDED_KEPT] or None,
        mxu_share=_peak_share(devices, ops, FLOPS),
        hbm_share=_peak_share(devices, ops, HBM_BYTES),
        uncosted_share=sum(op.share for op in ops if op.uncosted),
        share_16_bit=_share_16_bit(ops),
        matrix_ops=longest.products if longest else None,
        unread=tuple(unread),
        waits=tuple(DeviceWait(cause, ps / 1e9) for cause, ps in waits.most_common()),
        gpus=sum(len(summary.gpus) for summary in summaries),
        clocks=_clocks(summaries),
        devices_missing=not devices and any(summary.drives_tpu for summary in summaries),
        absent_devices=absent(summaries),
        assigned_devices=assigned(summaries),
        steps_differ=len({host.source for host in hosts}) > 1 or 0 < len(hosts) < len(summaries),
    )
    return facts, step_times(hosts, facts.source.removeprefix("profile"))


def _apart(summaries: Sequence[HostSummary]) -> Iterator[HostSummary]:
    """The hosts by their files, where several have one name."""
    # Containers of one image often all call themselves `localhost`.
    names = Counter(summary.host for summary in summaries)
    for summary in summaries:
        if names[summary.host] == 1:
            yield summary
            continue
        host, steps = summary.file, summary.steps
        if steps is not None:
            steps = replace(steps, replicas=tuple(replace(r, host=host) for r in steps.replicas))
        yield replace(
            summary,
            host=host,
            devices=tuple(replace(device, host=host) for device in summary.devices),
            steps=steps,
            memory=tuple(replace(peak, host=host) for peak in summary.memory),
        )


def _blockers(summaries: Sequence[HostSummary]) -> tuple[IteratorTime, ...]:
    """The op that each host's training loop waited for, where its trace shows it."""
    worst = [
        replace(max(summary.iterators, key=lambda one: one.blocked_ms), host=summary.host)
        for summary in summaries
        if summary.iterators
    ]
    return tuple(sorted((i for i in worst if i.blocked_ms), key=lambda one: -one.blocked_ms))


def _with_windows(summaries: Sequence[HostSummary]) -> tuple[Device, ...]:
    """Give devices that ran nothing the window of their host's other devices: idle in it."""
    devices: list[Device] = []
    longest = max((d.window_ms for s in summaries for d in s.devices), default=0.0)
    for summary in summaries:
        spans = [span for span in summary.device_spans if span is not None]
        window = (max(s[1] for s in spans) - min(s[0] for s in spans)) / 1e9 if spans else longest
        devices += [d if d.window_ms else replace(d, window_ms=window) for d in summary.devices]
    return tuple(devices)


def _runs(summaries: Sequence[HostSummary]) -> tuple[tuple[str, int, float], ...]:
    """Programs: name, runs, ms a run."""
    sums: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for summary in summaries:
        for name, (count, ps) in summary.runs.items():
            sums[name] = (sums[name][0] + count, sums[name][1] + ps)
    ordered = sorted(sums.items(), key=lambda item: -item[1][1])
    return tuple((name, count, ps / count / 1e9) for name, (count, ps) in ordered if count)


def _functions(by_host: Sequence[Sequence[TracedFunction]]) -> tuple[TracedFunction, ...] | None:
    """Each function as the host with the most calls of it recorded it: all run one program."""
    best: dict[str, TracedFunction] = {}
    for function in (function for functions in by_host for function in functions):
        known = best.get(function.name)
        rank = (len(function.retraces), function.calls)
        if known is None or rank > (len(known.retraces), known.calls):
            best[function.name] = function
    return tuple(best.values()) if by_host else None


def _callbacks(by_host: Sequence[Sequence[CallbackTime]]) -> tuple[CallbackTime, ...] | None:
    """Summed over the hosts."""
    sums: dict[str, CallbackTime] = {}
    for callback in (callback for callbacks in by_host for callback in callbacks):
        known = sums.get(callback.op, CallbackTime(callback.op, 0, 0.0))
        count, ms = known.count + callback.count, known.ms + callback.ms
        sums[callback.op] = CallbackTime(callback.op, count, ms)
    return tuple(sums.values()) if by_host else None


def _iterators(by_host: Sequence[Sequence[IteratorTime]]) -> tuple[IteratorTime, ...] | None:
    """Summed over the hosts; `longest_ms` is the longest of all."""
    sums: dict[str, IteratorTime] = {}
    for time in (time for times in by_host for time in times):
        known = sums.setdefault(time.name, time)
        if known is not time:
            sums[time.name] = replace(
                known,
                count=known.count + time.count,
                self_ms=known.self_ms + time.self_ms,
                longest_ms=max(known.longest_ms, time.longest_ms),
                blocked_ms=known.blocked_ms + time.blocked_ms,
            )
    return tuple(sums.values()) if by_host else None


def _peak_share(devices: Sequence[Device], ops: Iterable[DeviceOp], of: _Peak) -> float | None:
    """What the operations did over what the chips could have done in their busy time.

    Where the trace lost operations of a device, only the time that the others cover counts.
    """
    figures = [of.amount(op) for op in ops if not op.holds_others]
    known = [figure for figure in figures if figure is not None]
    peaks = [of.peak(device) for device in devices]
    could = 0.0
    for peak, device in zip(peaks, devices, strict=True):
        recorded = (device.ops_share or 0.0) if device.lost_operations else 1.0
        could += (peak or 0.0) * of.unit * device.busy_ms * recorded / 1e3
    if not known or len(known) < len(figures) or None in peaks or not could:
        return None
    share = sum(known) / could
    # More than possible: the trace lost a part of the operations' time.
    return share if share <= of.most else None


def _share_16_bit(ops: Iterable[DeviceOp]) -> float | None:
    """16-bit share of the matrix operations' FLOPs, or of their time where those are unknown."""
    matrix = [op for op in ops if op.in_16_bit is not None]
    known = all(op.flops is not None for op in matrix) and any(op.flops for op in matrix)
    weights = [float(op.flops or 0) if known else op.self_ms for op in matrix]
    whole = sum(weights)
    if not whole:
        return None
    return sum(w for w, op in zip(weights, matrix, strict=True) if op.in_16_bit) / whole


def _clocks(summaries: Sequence[HostSummary]) -> tuple[HostClock, ...]:
    """Clock differences, since collectives let the hosts of a run end a step together."""
    ends = [
        (s.host, {n: s.started_ns / 1e6 + ps / 1e9 for n, ps in s.steps.ends.items()})
        for s in summaries
        if s.steps is not None and s.started_ns is not None and not s.steps.recovered
    ]
    if len(ends) < 2:
        return ()
    first = ends[0][1]
    return tuple(
        HostClock(host, statistics.median(own[n] - first[n] for n in common))
        for host, own in ends
        if (common := own.keys() & first.keys())
    )
