"""The operations of a profile: by TensorFlow op and user line, against the roofline."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from tpudiag.diagnoses import report_parts
from tpudiag.diagnoses.report_parts import Columns, table
from tpudiag.hardware import by_device_kind
from tpudiag.records import dataclass
from tpudiag.report_figures import Series, Table, Value
from tpudiag.signals import DeviceOp, ProfileFacts
from tpudiag.signals.profile import common_peaks

TOP = 30
"""Rows of the table; the first screen shows fewer."""
SLOWER = 2.0
"""An operation this many times slower than the compiler expected is listed."""
WORTH = 0.005
"""The least share of busy time for a row among the slow operations."""
PLACES = 3
"""Shown parts of a framework op's path."""
_ARGUMENTS = re.compile(r"\[.*\]")
_WRAPPERS = re.compile(r"^jit\([^/]*\)/(jit\(main\)/)?")
MOST_FLOPS, MOST_HBM = 205.0, 110.0
"""A larger share of a peak (%) is invalid: operands of 8 bits reach twice the bfloat16 peak."""
LEAST = 1e-4
"""Operations below this share of the busy time are left out, where there are others."""
DASH = "-"
WHY = {
    "host memory": "waits for host memory",
    "collectives": "waits for other chips",
    "infeed": "waits for input",
}


@dataclass(frozen=True, kw_only=True)
class OperationGroup:
    """Operations that the profiler marks as duplicates of each other."""

    name: str
    first: DeviceOp
    members: int
    self_ms: float
    share: float
    count: int
    tflop_per_s: float | None
    hbm_gb_per_s: float | None
    expected_ms: float | None
    """The compiler's estimate for all runs."""
    measured_ms: float
    """The measured time of runs that have an estimate."""


def groups(facts: ProfileFacts) -> tuple[OperationGroup, ...]:
    """The operations with their duplicates, as XProf's op profile has them; longest first."""
    members: dict[tuple[str, str], list[DeviceOp]] = {}
    for op in facts.ops:
        # By program: two programs may use one name for different operations.
        members.setdefault((op.program, op.group or op.name), []).append(op)
    kinds = {device.kind for device in facts.devices}
    generation = by_device_kind(kinds.pop()) if len(kinds) == 1 else None
    clock_mhz = generation.clock_mhz if generation else None
    made = (_group(name, ops, clock_mhz) for (_, name), ops in members.items())
    return tuple(sorted(made, key=lambda group: (-group.self_ms, group.name)))


def operations(facts: ProfileFacts, top: int) -> Iterator[Table]:
    """The operations, those that took far longer than the compiler expected, and their rates."""
    ranked = groups(facts)
    # Thousands of tiny ones follow in every profile, without value for any reader.
    ranked = tuple(group for group in ranked if group.share >= LEAST) or ranked
    if not ranked:
        return
    source = f"{facts.source}, XLA Ops, all devices"
    peaks = common_peaks(facts.devices)
    more = "" if len(ranked) <= top else f": the {top} longest of {len(ranked)}"
    yield table(
        f"Operations{more}",
        {
            "operation": lambda group: group.name + f" x{group.members}" * (group.members > 1),
            "self ms": lambda group: group.self_ms,
            "%": lambda group: round(100 * group.share, 2),
            "times": lambda group: group.count,
            "FLOP %": lambda group: _of_peak(group.tflop_per_s, peaks[0], MOST_FLOPS),
            "HBM %": lambda group: _of_peak(group.hbm_gb_per_s, peaks[1], MOST_HBM),
            "bound by": lambda group: group.first.part or group.first.bound_by or DASH,
            "op, line": lambda group: _place(group.first),
        },
        ranked[:top],
        source,
    )
    slow = [g for g in ranked if _slower(g) >= SLOWER and g.share >= WORTH]
    if slow:
        title = "Operations far slower than the compiler expected"
        expected = f"{source}; estimated cycles of the profile's HLO at the documented clock"
        yield table(title, SLOW, slow[:top], expected)
    yield table("Rates and places of these operations", RATES, ranked[:top], source)
    sides = tuple(_side(group, peaks) for group in ranked[:top])
    heads = ("operation", "TFLOP/s", "% of peak", "HBM GB/s", "% of peak", "bound by")
    yield Table("Roofline of the longest operations", heads, sides, source)


def _side(group: OperationGroup, peaks: tuple[float | None, float | None]) -> tuple[Value, ...]:
    """The rates against both peaks; a dash where unknown or impossible."""
    cells: list[Value] = []
    rates = zip((group.tflop_per_s, group.hbm_gb_per_s), peaks, (MOST_FLOPS, MOST_HBM), strict=True)
    for rate, peak, most in rates:
        possible = rate is not None and not (peak and 100 * rate / peak > most)
        cells.append(rate if rate is not None and possible else DASH)
        cells.append(_of_peak(rate, peak, most))
    return (group.name, *cells, group.first.part or group.first.bound_by or DASH)


def roofline(facts: ProfileFacts) -> Iterator[Series]:
    """Each operation as a point: FLOPs per byte of HBM traffic, and TFLOP/s reached."""
    peaks = common_peaks(facts.devices)
    known = [
        (op.flops / moved, op.gflop_per_s / 1e3, op.name)
        for op in facts.ops
        if op.flops and op.gflop_per_s and (moved := op.hbm_bytes or op.bytes_accessed)
    ]
    bandwidth = peaks[1] / 1e3 if peaks[1] else None
    source = f"{facts.source}, XLA Ops"
    points = known if peaks[0] else ()
    return report_parts.roofline("operations", points, peaks[0], bandwidth, source)


def short_name(framework_op: str) -> str:
    """`mlp/wo/dot_general` of a framework op's path, without the wrappers of jit and arguments."""
    path = _WRAPPERS.sub("", _ARGUMENTS.sub("", framework_op).rstrip(":"))
    op, _, _ = path.rpartition(":") if ":" in path.rpartition("/")[2] else (path, "", "")
    parts = op.split("/")
    return ("…/" if len(parts) > PLACES else "") + "/".join(parts[-PLACES:])


def _group(name: str, ops: Sequence[DeviceOp], clock_mhz: int | None) -> OperationGroup:
    first = max(ops, key=lambda op: op.self_ms)
    # The compiler's estimate of a loop covers the loop alone, its traced time all of its body.
    estimated = [op for op in ops if op.estimated_cycles and clock_mhz and not op.holds_others]
    cycles = sum((op.estimated_cycles or 0) * op.count for op in estimated)
    return OperationGroup(
        name=name,
        first=first,
        members=len(ops),
        self_ms=sum(op.self_ms for op in ops),
        share=sum(op.share for op in ops),
        count=sum(op.count for op in ops),
        tflop_per_s=_mean(1e-3, [(op.gflop_per_s, op.total_ms) for op in ops]),
        hbm_gb_per_s=_mean(1.0, [(op.hbm_gb_per_s, op.total_ms) for op in ops]),
        expected_ms=cycles / (clock_mhz * 1e3) if estimated and clock_mhz else None,
        measured_ms=sum(op.total_ms or 0.0 for op in estimated),
    )


def _mean(scale: float, rates: Sequence[tuple[float | None, float | None]]) -> float | None:
    """The rate over the time of those that have one; None where none has."""
    known = [(rate, ms) for rate, ms in rates if rate is not None and ms]
    whole = sum(ms for _, ms in known)
    return scale * sum(rate * ms for rate, ms in known) / whole if whole else None


def _place(op: DeviceOp) -> str:
    line = PurePath(op.location.file).name + f":{op.location.line}" if op.location else ""
    return ", ".join(filter(None, (short_name(op.framework_op), line))) or DASH


RATES: Columns[OperationGroup] = {
    "operation": lambda group: group.name,
    "ms a run": lambda group: group.self_ms / max(group.count, 1),
    "expected ms": lambda group: _or_dash(group.expected_ms, max(group.count, 1)),
    "TFLOP/s": lambda group: _or_dash(group.tflop_per_s),
    "HBM GB/s": lambda group: _or_dash(group.hbm_gb_per_s),
    "category": lambda group: group.first.category,
    "framework op": lambda group: group.first.framework_op or DASH,
    "line": lambda group: str(group.first.location or DASH),
}


def _or_dash(value: float | None, runs: int = 1) -> Value:
    return DASH if value is None else value / runs


def _of_peak(rate: float | None, peak: float | None, most: float) -> Value:
    """A rate's share of the peak; a dash where the profile has no figure."""
    share = 100 * rate / peak if rate is not None and peak else None
    # Over the peak: its transfer ran beside other operations, so the rate is invalid.
    return DASH if share is None or share > most else round(share, 1)


def _slower(group: OperationGroup) -> float:
    return group.measured_ms / group.expected_ms if group.expected_ms else 0.0


def _why(op: DeviceOp) -> str:
    """The reason for the difference to the estimate, where visible."""
    unnamed = "HBM traffic" if op.bound_by == "memory" else "not seen in the trace"
    return WHY.get(op.part or "", unnamed)


SLOW: Columns[OperationGroup] = {
    "operation": lambda group: f"{group.name} ({group.first.category})",
    "ms a run": lambda group: group.measured_ms / max(group.count, 1),
    "expected ms": lambda group: (group.expected_ms or 0.0) / max(group.count, 1),
    "times slower": _slower,
    "why": lambda group: _why(group.first),
    "line": lambda group: str(group.first.location or DASH),
}
