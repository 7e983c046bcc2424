"""What a TPU core's plane says: its hardware, its busy time, its operations, its steps."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tpudiag.signals import Device, DeviceOp
from tpudiag.sources.profile.intervals import Interval, Intervals, self_times, total, union
from tpudiag.sources.profile.schema import XEvent
from tpudiag.sources.profile.xspace import Line, Plane, StatValue

PS_PER_MS = 1e9
TENSOR_CORE = re.compile(r"/device:TPU:\d+")
MODULES, OPS, STEPS = "XLA Modules", "XLA Ops", "Steps"


class OpKey(NamedTuple):
    """An operation: a program's fingerprint and the op's name in it."""

    program: StatValue
    name: str


@dataclass(frozen=True)
class OpTotal:
    """An operation summed over its occurrences on one device."""

    category: str
    self_ps: int
    count: int
    flops: int | None
    bytes_accessed: int | None


class Step(NamedTuple):
    """One step as a device or a host marks it."""

    number: int
    start: int
    end: int


@dataclass(frozen=True)
class DeviceRead:
    """One device: the facts, and what the run-wide figures are computed from (times in ps)."""

    device: Device
    busy: Intervals
    infeed: Intervals | None
    """Time in infeed ops; None where the device runs none (input comes as arguments)."""
    steps: tuple[Step, ...]
    ops: dict[OpKey, OpTotal]
    strangers: int
    """Events without metadata."""
    unknown_bytes: int
    events: int


def read_device(plane: Plane, host: str) -> DeviceRead:
    """Read the plane of one TPU core; raises wire.Damaged.

    Busy time is the union of the events of the `XLA Modules` line (of `XLA Ops` where there is
    none). The window is the device's own, as in XProf: from the start of its first module (or step,
    on a `Steps` line) to the end of its last; that it was idle before and after is not known.
    """
    modules: list[Interval] = []
    ops: list[Line] = []
    steps: list[Step] = []
    events = unknown = strangers = 0
    for line in plane.lines():
        unknown += line.unknown_bytes
        spans = [(mid, start, end) for mid, start, end, _ in line.events()]
        events += len(spans)
        strangers += sum(mid not in plane.names for mid, _, _ in spans)
        if line.name == MODULES:
            modules.extend((start, end) for _, start, end in spans)
        elif line.name == OPS:
            ops.append(line)
        elif line.name == STEPS:
            steps.extend(_steps(plane, spans))
    totals, op_spans, infeed = _ops(plane, ops)
    busy = union(modules or op_spans)
    return DeviceRead(
        _device(plane, host, busy, steps), busy, infeed,
        tuple(sorted(steps, key=lambda step: step.start)),
        totals, strangers, plane.unknown_bytes + unknown, events,
    )  # fmt: skip


def with_windows(reads: Sequence[DeviceRead]) -> tuple[DeviceRead, ...]:
    """Devices that ran nothing get the window of those that did: they were idle in it."""
    spans = [read.busy for read in reads if read.busy]
    if not spans:
        return tuple(reads)
    window = (max(s[-1][1] for s in spans) - min(s[0][0] for s in spans)) / PS_PER_MS
    return tuple(
        read
        if read.device.window_ms
        else replace(read, device=replace(read.device, window_ms=window))
        for read in reads
    )


def device_ops(reads: Iterable[DeviceRead]) -> tuple[DeviceOp, ...]:
    """The operations of all devices, the longest first; `share` is of the devices' busy time."""
    reads = tuple(reads)
    busy_ms = sum(read.device.busy_ms for read in reads)
    merged: dict[OpKey, OpTotal] = {}
    for read in reads:
        for key, found in read.ops.items():
            merged[key] = _added(merged[key], found) if key in merged else found
    ops = (
        DeviceOp(
            key.name, op.category, op.self_ps / PS_PER_MS,
            op.self_ps / PS_PER_MS / busy_ms if busy_ms else 0.0,
            op.count, op.flops, op.bytes_accessed,
        )
        for key, op in merged.items()
    )  # fmt: skip
    return tuple(sorted(ops, key=lambda op: (-op.self_ms, op.name)))


def _device(plane: Plane, host: str, busy: Intervals, steps: Sequence[Step]) -> Device:
    """The facts of one device."""
    stats = plane.stats
    covered = union((*busy, *((step.start, step.end) for step in steps)))
    megacore = stats.get("has_megacore")
    return Device(
        host=host,
        name=plane.name,
        kind=str(stats.get("device_type_string", "")) or "unknown TPU",
        peak_tflops=_figure(stats.get("peak_teraflops_per_second")),
        peak_hbm_gb_per_s=_figure(stats.get("peak_hbm_bw_gigabytes_per_second")),
        busy_ms=total(busy) / PS_PER_MS,
        window_ms=(covered[-1][1] - covered[0][0]) / PS_PER_MS if covered else 0.0,
        has_megacore=None if megacore is None else bool(megacore),
    )


def _figure(value: StatValue | None) -> float | None:
    """A peak, None where the profiler did not know it (it writes 0 then)."""
    return float(value) if isinstance(value, (int, float)) and value > 0 else None


def _steps(plane: Plane, spans: Iterable[tuple[int, int, int]]) -> list[Step]:
    """The events of a `Steps` line; they are named by their number."""
    return [
        Step(int(name) if (name := plane.names.get(mid, "")).isdecimal() else index, start, end)
        for index, (mid, start, end) in enumerate(spans)
    ]


def _ops(
    plane: Plane, lines: Iterable[Line]
) -> tuple[dict[OpKey, OpTotal], list[Interval], Intervals | None]:
    """Totals by operation, the ops' spans, and the time in infeed ops."""
    sums: defaultdict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    spans: list[tuple[int, Interval]] = []
    for line in lines:
        events = list(line.events())
        spans += [(mid, (start, end)) for mid, start, end, _ in events]
        for index, own in self_times(_device_clock(plane, events)):
            self_ps, count = sums[events[index][0]]
            sums[events[index][0]] = (self_ps + own, count + 1)
    totals: dict[OpKey, OpTotal] = {}
    infeeds: set[int] = set()
    for mid, (self_ps, count) in sums.items():
        if mid in plane.names:
            key, found = _op(plane, mid, self_ps, count)
            totals[key] = _added(totals[key], found) if key in totals else found
            if found.category.startswith("infeed"):
                infeeds.add(mid)
    infeed = union(span for mid, span in spans if mid in infeeds) if infeeds else None
    return totals, [span for _, span in spans], infeed


def _device_clock(plane: Plane, events: Sequence[tuple[int, int, int, XEvent]]) -> list[Interval]:
    """The events as the device timed them, where the profile holds that.

    An event's own offset is moved to the host's clock, which stretches it: on a v6e by up to
    15 % of an operation. XProf takes the device's times for operations, too.
    """
    offset, duration = plane.stat_id("device_offset_ps"), plane.stat_id("device_duration_ps")
    timed: list[Interval] = []
    for _, start, end, event in events:
        if offset is not None and duration is not None:
            stats = {stat.metadata_id: stat.uint64_value for stat in event.stats}
            if offset in stats and duration in stats:
                timed.append((stats[offset], stats[offset] + stats[duration]))
                continue
        timed.append((start, end))
    return timed


def _op(plane: Plane, mid: int, self_ps: int, count: int) -> tuple[OpKey, OpTotal]:
    """One event id as an operation; flops and bytes stand once for each occurrence in the file."""
    metadata = plane.header.event_metadata[mid]
    stats = plane.values(metadata.stats)
    name = metadata.display_name or metadata.name.partition(" = ")[0].removeprefix("%")
    return OpKey(stats.get("program_id", ""), name), OpTotal(
        str(stats.get("hlo_category", "")) or "unknown", self_ps, count,
        _times(stats.get("flops"), count), _times(stats.get("bytes_accessed"), count),
    )  # fmt: skip


def _times(value: StatValue | None, count: int) -> int | None:
    """A figure for each occurrence, summed; None where the profile has none."""
    return int(value) * count if isinstance(value, (int, float)) else None


def _added(left: OpTotal, right: OpTotal) -> OpTotal:
    """The same operation on two devices, or under two ids."""
    return OpTotal(
        left.category, left.self_ps + right.self_ps, left.count + right.count,
        _sum(left.flops, right.flops), _sum(left.bytes_accessed, right.bytes_accessed),
    )  # fmt: skip


def _sum(left: int | None, right: int | None) -> int | None:
    """None where one of both is not known: a part is no sum."""
    return None if left is None or right is None else left + right
