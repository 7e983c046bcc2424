"""Reads a GPU's plane: its busy time and its steps. No TPU figure comes from it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tpudiag.sources.profile.events import Clock
from tpudiag.sources.profile.host_read import HostRead, Mark
from tpudiag.sources.profile.intervals import EMPTY, Spans, merged, union
from tpudiag.sources.profile.xspace import Plane

GPU = re.compile(r"/device:GPU:\d+")
STREAM, STEPS = "Stream #", "Steps"


@dataclass(kw_only=True)
class GpuRead:
    """One GPU; times in ps since the start of the file's clock."""

    name: str
    busy: Spans = EMPTY
    """Time in kernels and copies of any stream."""
    marks: tuple[Mark, ...] = ()
    """Its steps, named by their numbers."""


def read_gpu(plane: Plane, clock: Clock) -> GpuRead:
    """Read the plane of a GPU; raises wire.Damaged."""
    read = GpuRead(name=plane.name)
    for line in plane.lines():
        begin = clock.start_ps(line)
        for events in line.windows():
            starts = begin + events.offsets
            ends = starts + events.durations
            if line.name.startswith(STREAM):
                read.busy = merged(read.busy, union(starts, ends))
            elif line.name == STEPS:
                columns = (events.ids.tolist(), starts.tolist(), ends.tolist())
                read.marks += tuple(
                    Mark(f"{STEPS} line", plane.name, int(number), start, end, numbered=True)
                    for id_, start, end in zip(*columns, strict=True)
                    if (number := plane.names.get(id_, "")).isdecimal() and len(number) < 18
                )
    return read


def with_gpus(trace: HostRead | None, gpus: Sequence[GpuRead]) -> HostRead | None:
    """The host's trace with its GPUs' busy time and steps added."""
    if not any(gpu.busy or gpu.marks for gpu in gpus):
        return trace
    trace = trace or HostRead()
    kernels = merged(trace.kernels, *(gpu.busy for gpu in gpus))
    # One GPU is enough: all mark the same steps.
    marks = max((gpu.marks for gpu in gpus), key=len)
    numbered = any(mark.numbered for mark in trace.marks)
    return replace(trace, kernels=kernels, marks=trace.marks if numbered else list(marks))
