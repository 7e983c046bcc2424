"""Operations of the devices: totals, rates against the peaks, precision, padding."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tpudiag.compiled import HbmTensor
from tpudiag.location import parsed as located
from tpudiag.prediction.arrays import leading
from tpudiag.signals import Device, DeviceOp
from tpudiag.signals.profile import common_peaks
from tpudiag.sources.profile.op_kinds import INFEED, part_of
from tpudiag.sources.profile.programs import ProgramHlo
from tpudiag.sources.profile.schema import parsed
from tpudiag.sources.profile.wire import Damaged
from tpudiag.sources.profile.xspace import Plane, StatValue

PS_PER_MS = 1e9
NUMBERED = re.compile(r".*\((\d+)\)")
"""A program's name with its number, by which operations name theirs."""
CONTAINERS = ("while", "conditional", "call", "async-start", "async-done")
"""Categories whose operations hold others: their FLOPs and bytes are those of their contents."""
KERNEL = "custom-call"
STARTED = "-start"
"""Ending of categories that start a transfer in the background: its time is not theirs."""
REPEATED = re.compile(r"\.remat\d*(\.|_|$)")
"""In the names made by XLA's rematerialisation pass."""
REPEATED_BY_JOB = "rematted_computation"
"""In the framework's op, where the job requested it (checkpointing); as in XProf."""
EIGHT = ("s8", "u8", "s4", "u4", "f8", "f4")
"""Operand types of quantised products, narrower than 16 bits."""
MATRIX = re.compile(r".*(convolution|dot|matmul).*")
_LIST = r"((?:[0-9]{1,18}(?:,[0-9]{1,18})*)?)"
SHAPE = re.compile(rf"([a-z]+\d*(?:e\dm\d\w*)?)\[{_LIST}\](?:\{{{_LIST}(?::([^}}]*))?\}})?")


class Description(NamedTuple):
    """The metadata that all occurrences of an operation share."""

    op: DeviceOp
    """What it is, without figures."""
    flops: StatValue | None
    bytes_accessed: StatValue | None
    hbm_bytes: int | None
    """None where the profile does not separate HBM from other memory."""
    text: str
    """The HLO instruction."""


class OpTotal(NamedTuple):
    """An operation summed over its occurrences on one device."""

    description: Description
    self_ps: int
    total_ps: int
    times: int
    flops: int | None
    bytes_accessed: int | None
    hbm_bytes: int | None


OpTotals = dict[tuple[str, str], OpTotal]
"""By the program's fingerprint and the operation's name in it."""


def operation(plane: Plane, id_: int, self_ps: int, total_ps: int, count: int) -> OpTotal:
    """One event id as an operation; the file holds flops and bytes per occurrence."""
    described: dict[int, Description] = plane.tables.described
    description = described.get(id_)
    if description is None:
        description = described[id_] = _description(plane, id_)
    accessed = _times(description.bytes_accessed, count)
    return OpTotal(
        description,
        self_ps,
        total_ps,
        count,
        _times(description.flops, count),
        accessed,
        accessed if description.hbm_bytes is None else description.hbm_bytes * count,
    )


def _description(plane: Plane, id_: int) -> Description:
    metadata = plane.tables.metadata[id_]
    stats = plane.values(metadata.stats)
    text = metadata.name
    name = metadata.display_name or text.partition(" = ")[0].removeprefix("%")
    category = str(stats.get("hlo_category", "")) or "unknown"
    framework_op = str(stats.get("tf_op", ""))
    breakdown = stats.get("memory_access_breakdown")
    op = DeviceOp(
        name=name,
        program=str(stats.get("program_id", "")),
        category=category,
        self_ms=0.0,
        share=0.0,
        count=0,
        framework_op=framework_op,
        location=located(str(stats.get("source") or "")),
        holds_others=category in CONTAINERS,
        part=part_of(name, category, text),
        group=str(stats.get("deduplicated_name") or name),
        repeated=bool(REPEATED.search(name)) or REPEATED_BY_JOB in framework_op,
    )
    hbm_bytes = _hbm_bytes(breakdown) if isinstance(breakdown, bytes) else None
    return Description(op, stats.get("flops"), stats.get("bytes_accessed"), hbm_bytes, text)


def fold(into: OpTotals, more: Iterable[OpTotal]) -> None:
    """Add operations under other ids, of another device, or of another host of the same run."""
    for total in more:
        key = total.description.op.program, total.description.op.name
        known = into.setdefault(key, total)
        if known is not total:
            figures: Any = map(_sum, known[1:], total[1:])
            into[key] = OpTotal(known.description, *figures)


def device_ops(
    totals: OpTotals, devices: Sequence[Device], programs: Mapping[str, ProgramHlo]
) -> tuple[DeviceOp, ...]:
    """The operations of all devices, the longest first; `share` is of the devices' busy time."""
    busy_ms = sum(device.busy_ms for device in devices)
    peak = common_peaks(devices)
    named = ((NUMBERED.fullmatch(name), hlo.cycles) for name, hlo in programs.items())
    estimates = {match[1]: cycles for match, cycles in named if match}
    ops_ = (
        _device_op(op, busy_ms, peak, estimates.get(program, {}).get(name))
        for (program, name), op in totals.items()
    )
    return tuple(sorted(ops_, key=lambda op: (-op.self_ms, op.name)))


def _device_op(
    op: OpTotal,
    busy_ms: float,
    peak: tuple[float | None, float | None],
    estimated_cycles: int | None,
) -> DeviceOp:
    """One operation with its rates; an operation that holds others has none of its own."""
    seconds, described, moved = op.total_ps / 1e12, op.description.op, _moved(op)
    untimed = described.holds_others or described.category.endswith(STARTED) or _uncosted(op)
    timed = seconds > 0 and not untimed
    return replace(
        described,
        estimated_cycles=estimated_cycles,
        self_ms=op.self_ps / PS_PER_MS,
        share=op.self_ps / PS_PER_MS / busy_ms if busy_ms else 0.0,
        count=op.times,
        flops=op.flops,
        bytes_accessed=op.bytes_accessed,
        total_ms=op.total_ps / PS_PER_MS,
        hbm_bytes=op.hbm_bytes,
        gflop_per_s=op.flops / seconds / 1e9 if timed and op.flops is not None else None,
        hbm_gb_per_s=moved / seconds / 1e9 if timed and moved is not None else None,
        bound_by=_bound(op, peak),
        in_16_bit=_in_16_bit(op),
        uncosted=_uncosted(op),
    )


def _uncosted(op: OpTotal) -> bool:
    """Whether it is a custom kernel of the job (Pallas) without a cost estimate."""
    return op.description.op.category.startswith(KERNEL) and not op.flops and not op.bytes_accessed


def _bound(op: OpTotal, peak: tuple[float | None, float | None]) -> str | None:
    """The side of the roofline: input, memory or compute; None where unknown."""
    if op.description.op.part == INFEED:
        return "input"
    tflops, gb_per_s = peak
    moved = _moved(op)
    if not tflops or not gb_per_s or op.flops is None or moved is None:
        return None
    if not op.flops and not moved:
        return None
    return "memory" if op.flops * gb_per_s < moved * tflops * 1000 else "compute"


def _moved(op: OpTotal) -> int | None:
    """Bytes that an operation moves: those of HBM, or all where the profile does not separate them.

    As XProf does for one operation; in sums both count HBM alone.
    """
    return op.hbm_bytes or op.bytes_accessed


def _in_16_bit(op: OpTotal) -> bool | None:
    """Whether a matrix operation reads floats of 16 bits, or anything of 8; None for others."""
    if not MATRIX.fullmatch(op.description.op.category):
        return None
    _, _, right = op.description.text.partition(" = ")
    # The first shape is the result: a product of bfloat16 may give float32, and still runs at
    # the MXU's full speed.
    read = [kind for kind, *_ in SHAPE.findall(right)][1:]
    if any(kind.startswith(EIGHT) for kind in read):
        return True
    floats = [kind for kind in read if kind in ("f32", "f64", "bf16", "f16")]
    return None if not floats else sum(kind.endswith("f16") for kind in floats) * 2 >= len(floats)


def padded(ops: OpTotals) -> tuple[HbmTensor, ...]:
    """Results that the tiles of their layout pad, the largest loss first."""
    results = (
        (name, leading(op.description.text.partition(" = ")[2])) for (_, name), op in ops.items()
    )
    tensors = [
        HbmTensor(name, array.text, array.bytes, array.padded_bytes)
        for name, array in results
        if array is not None and array.dims and array.is_tiled and array.in_hbm
    ]
    return tuple(sorted(tensors, key=lambda t: t.logical_bytes - t.padded_bytes))


def _hbm_bytes(breakdown: bytes) -> int | None:
    """Bytes in memory space 1, the HBM, of a memory access breakdown; None where malformed."""
    try:
        accesses = parsed("MemoryAccessBreakdown", breakdown).memory_accessed
    except Damaged:
        return None
    return int(sum(each.bytes_accessed for each in accesses if each.memory_space == 1))


def _times(value: StatValue | None, count: int) -> int | None:
    """Of all occurrences; None where the file's figure is no count of 64 bits (NaN, 1e308)."""
    if not isinstance(value, (int, float)) or not abs(value) < 2**64:
        return None
    return int(value) * count


def _sum(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right
