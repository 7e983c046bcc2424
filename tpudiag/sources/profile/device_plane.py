"""Reads a TPU core's plane: its hardware, busy time, operations and steps."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tpudiag.signals import Device
from tpudiag.signals.profile import WHOLE_TRACE
from tpudiag.sources.profile.edge_steps import Steps, complete
from tpudiag.sources.profile.events import Clock, Line
from tpudiag.sources.profile.intervals import EMPTY, Spans, groups, merged, self_times, union
from tpudiag.sources.profile.operations import OpTotals, fold, operation
from tpudiag.sources.profile.schema import parsed
from tpudiag.sources.profile.varints import Ints
from tpudiag.sources.profile.wire import Damaged
from tpudiag.sources.profile.xspace import Plane, StatValue
from tpudiag.sources.profile.xstats import named

PS_PER_MS = 1e9
TENSOR_CORE = re.compile(r"/device:TPU:\d+")
MODULES, OPS, STEPS = "XLA Modules", "XLA Ops", "Steps"


class Run(NamedTuple):
    """The runs of one module (program) on a device, sorted by start; times in ps."""

    name: str
    starts: Ints
    ends: Ints


@dataclass(kw_only=True)
class DeviceRead:
    """One device: its hardware, and the times (ps) from which its host's figures are computed."""

    name: str
    stats: dict[str, StatValue]
    busy: Spans = EMPTY
    unrecorded: Spans = EMPTY
    """Time of programs without their operations: the trace lost them."""
    ops_share: float | None = None
    """Share of the programs' time that operations cover; None where no program ran."""
    steps: Steps | None = None
    """The steps of its `Steps` line that the trace holds in full."""
    parts: dict[str, Spans] = field(default_factory=dict[str, Spans])
    """Time in operations that do not compute, by op_kinds' parts; no key where none ran."""
    runs: tuple[Run, ...] = ()
    ops: OpTotals = field(default_factory=OpTotals)

    @property
    def longest_run(self) -> Run | None:
        """The program that ran longest."""
        return max(self.runs, key=lambda run: int((run.ends - run.starts).sum()), default=None)

    def device(self, host: str) -> Device:
        """The facts of the device.

        As in XProf, the window reaches from the start of the device's first module (or step, on a
        `Steps` line) to the end of its last: whether it was idle before and after is not known.
        """
        marked = EMPTY if self.steps is None else union(self.steps.starts, self.steps.ends)
        covered = merged(self.busy, marked)
        longest = self.longest_run
        return Device(
            host=host,
            name=self.name,
            kind=str(self.stats.get("device_type_string", "")) or "unknown TPU",
            peak_tflops=_figure(self.stats.get("peak_teraflops_per_second")),
            peak_hbm_gb_per_s=_figure(self.stats.get("peak_hbm_bw_gigabytes_per_second")),
            busy_ms=self.busy.total / PS_PER_MS,
            window_ms=int(covered.ends[-1] - covered.starts[0]) / PS_PER_MS if covered else 0.0,
            chip=_chip(self.stats.get("core_details")),
            ops_share=self.ops_share,
            program_runs=len(longest.starts) if longest else 0,
        )


class _Columns(NamedTuple):
    ids: Ints
    starts: Ints
    ends: Ints
    device_starts: Ints
    device_ends: Ints
    """As the device timed them, where the profile holds that for every event."""


def read_device(plane: Plane, clock: Clock) -> DeviceRead:
    """Read the plane of one TPU core; raises wire.Damaged.

    Busy time is the union of the events of the `XLA Modules` line, and of those of `XLA Ops` that
    start in none of them: the trace may have lost their module.
    """
    read = DeviceRead(name=plane.name, stats=plane.stats)
    modules: list[_Columns] = []
    ops: list[_Columns] = []
    for line in plane.lines():
        columns = _columns(plane, line, clock)
        ids, place = groups(columns.ids)
        # Per id, not per event: a device has millions of events and a few thousand ids.
        strange = [index for index, id_ in enumerate(ids.tolist()) if id_ not in plane.names]
        plane.counts["strangers"] += sum(int((place == index).sum()) for index in strange)
        if line.name == MODULES:
            modules.append(columns)
        elif line.name == OPS:
            ops.append(columns)
        elif line.name == STEPS and len(columns.ids):
            read.steps = _steps(plane, columns)
    read.runs = tuple(run for columns in modules for run in _runs(plane, columns))
    read.busy = merged(EMPTY, *(union(columns.starts, columns.ends) for columns in modules))
    # A full buffer drops events of one line but not of another: either line proves the device busy.
    read.busy = merged(read.busy, *(_without_module(columns, read.busy) for columns in ops))
    _operations(plane, ops, read)
    _coverage(ops, read)
    if read.steps is not None:
        begun = np.sort(
            np.concatenate([columns.starts for columns in (*ops, *modules)] or [EMPTY[0]])
        )
        # The capture begins and ends inside a step: such partial steps look shorter than all
        # others.
        read.steps = complete(read.steps, begun)
    return read


def _without_module(ops: _Columns, modules: Spans) -> Spans:
    """The time of the operations that start while no module runs."""
    last = np.searchsorted(modules.starts, ops.starts, side="right") - 1
    alone = last < 0
    alone[~alone] = ops.starts[~alone] >= modules.ends[last[~alone]]
    return union(ops.starts[alone], ops.ends[alone])


def _coverage(ops: Sequence[_Columns], read: DeviceRead) -> None:
    """Measure how much of the programs' time the operations cover."""
    ran = read.busy
    if not ran and read.steps is not None:
        # Steps without programs and operations: their lines were lost, and nothing was idle.
        ran = union(read.steps.starts, read.steps.ends)
    if not ran:
        return
    op_spans = merged(*(union(columns.starts, columns.ends) for columns in ops))
    read.ops_share = (ran & op_spans).total / max(ran.total, 1)
    if read.ops_share < WHOLE_TRACE:
        read.unrecorded = ran - op_spans


def _chip(details: StatValue | None) -> int | None:
    """The chip's number in the slice: CoreDetails {global chip id 5}; None where not recorded."""
    if not isinstance(details, bytes) or not details:
        return None
    try:
        told = parsed("CoreDetails", details)
    except Damaged:
        return None
    # Proto3 does not write 0: a message without the field is chip 0.
    return int(told.global_chip_id or told.local_chip_id)


def _figure(value: StatValue | None) -> float | None:
    """A peak rate; None where the profiler did not know it (it writes 0 then)."""
    return float(value) if isinstance(value, (int, float)) and value > 0 else None


def _columns(plane: Plane, line: Line, clock: Clock) -> _Columns:
    begin = clock.start_ps(line)
    ids = {"offset": "device_offset_ps", "duration": "device_duration_ps"}
    wanted = {n: plane.stat_id(stat) for n, stat in ids.items()} if line.name == OPS else {}
    parts: list[tuple[Ints, ...]] = []
    timed = bool(wanted) and None not in wanted.values()
    for events in line.windows():
        starts = begin + events.offsets
        columns: tuple[Ints, ...] = (events.ids, starts, starts + events.durations)
        if timed:
            stats = named(events, wanted)
            timed = bool(stats["offset"][1].all() and stats["duration"][1].all())
            offset = stats["offset"][0]
            # Event times were converted to the host's clock; nesting needs the device's own exact
            # ones.
            columns += (offset, offset + stats["duration"][0])
        parts.append(columns)
    width = 5 if timed else 3
    empty = np.empty(0, np.int64)
    whole = [np.concatenate([part[i] for part in parts]) if parts else empty for i in range(width)]
    return _Columns(*whole[:3], *(whole[3:] or whole[1:3]))


def _steps(plane: Plane, columns: _Columns) -> Steps:
    """The events of a `Steps` line, which are named by the step's number."""
    # 18 digits fit 64 bits; more digits are damage.
    named_by = {i: int(n) for i, n in plane.names.items() if n.isdecimal() and len(n) < 18}
    numbers = [named_by.get(id_, index) for index, id_ in enumerate(columns.ids.tolist())]
    order = np.argsort(columns.starts, kind="stable")
    return Steps(np.array(numbers, np.int64)[order], columns.starts[order], columns.ends[order])


def _runs(plane: Plane, columns: _Columns) -> list[Run]:
    runs: list[Run] = []
    ids, place = groups(columns.ids)
    for index, id_ in enumerate(ids.tolist()):
        here = np.flatnonzero(place == index)
        here = here[np.argsort(columns.starts[here], kind="stable")]
        runs.append(Run(plane.names.get(id_, ""), columns.starts[here], columns.ends[here]))
    return runs


def _operations(plane: Plane, lines: Sequence[_Columns], read: DeviceRead) -> None:
    """Totals by operation, and the time in operations that do not compute."""
    spans: dict[str, list[Spans]] = {}
    for columns in lines:
        # A `while` lasts as long as its body: only the rest is its own time.
        own = self_times(columns.device_starts, columns.device_ends)
        ids, place = groups(columns.ids)
        counts = np.bincount(place, minlength=len(ids)).tolist()
        sums = [
            np.bincount(place, weights=column.astype(np.float64), minlength=len(ids)).tolist()
            for column in (own, columns.device_ends - columns.device_starts)
        ]
        for index, id_ in enumerate(ids.tolist()):
            if id_ not in plane.names:
                continue
            own_ps, whole_ps = (round(column[index]) for column in sums)
            total = operation(plane, id_, own_ps, whole_ps, counts[index])
            fold(read.ops, (total,))
            if (part := total.description.op.part) is not None:
                here = place == index
                spans.setdefault(part, []).append(union(columns.starts[here], columns.ends[here]))
    read.parts = {part: merged(*intervals) for part, intervals in spans.items()}
