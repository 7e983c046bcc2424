"""Where the time of steps goes, per replica, from a host's trace."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tpudiag.records import dataclass
from tpudiag.signals import ReplicaSteps, StepPart
from tpudiag.signals.profile import UNTOLD
from tpudiag.sources.profile.device_plane import PS_PER_MS, DeviceRead
from tpudiag.sources.profile.edge_steps import Steps, lost
from tpudiag.sources.profile.events import Clock
from tpudiag.sources.profile.functions import tracing
from tpudiag.sources.profile.host_plane import steps_named
from tpudiag.sources.profile.host_read import HostRead, Mark
from tpudiag.sources.profile.intervals import EMPTY, Ints, Spans, covered, merged, shared_out, union
from tpudiag.sources.profile.op_kinds import COLLECTIVES, HOST_MEMORY, INFEED, OUTPUT

GET_NEXT_WAIT = "the work of IteratorGetNext on the host while nothing computed"
WHOLE_CALL_WAIT = "whole eager calls of IteratorGetNext on the host, their work was not traced"
INFEED_WAIT = "infeed ops of the devices"
STEPS_LINE = "Steps line"
INPUT = ("input", "input processing", "input transfer")
COMPUTE, TO_DEVICE, COMPILATION, IDLE = "compute", "host to device", "compilation", "idle"


@dataclass(frozen=True)
class HostSteps:
    """The steps of one host: per replica, how they were found, and when they ended (ps)."""

    replicas: tuple[ReplicaSteps, ...]
    source: str
    """What marks them; for devices without their number."""
    wait_source: str | None
    recovered: bool
    ends: dict[int, int]


def made(
    trace: HostRead,
    steps: Sequence[tuple[DeviceRead, Steps]],
    label: str,
    source: str,
    recovered: bool,
) -> HostSteps:
    """Steps of devices, each broken down into parts."""
    infeed = any(INFEED in device.parts for device, _ in steps)
    knows = infeed or bool(trace.get_next)
    replicas = tuple(_on_device(trace, device, marks, label) for device, marks in steps)
    ends: dict[int, int] = {}
    for _, marks in steps:
        for number, end in zip(marks.numbers.tolist(), marks.ends.tolist(), strict=True):
            ends[number] = max(ends.get(number, end), end)
    wait = (INFEED_WAIT if infeed else _get_next(trace)) if knows else None
    return HostSteps(replicas, source, wait, recovered, ends)


def _on_device(trace: HostRead, device: DeviceRead, steps: Steps, label: str) -> ReplicaSteps:
    """One device's steps: its own work, and the host's while the device was idle."""
    unrecorded = merged(device.unrecorded, lost(steps, merged(device.busy, device.unrecorded)))
    recorded = {part: spans - unrecorded for part, spans in device.parts.items()}
    parts = {part: covered(spans, steps.starts, steps.ends) for part, spans in recorded.items()}
    infeed = recorded.get(INFEED, EMPTY)
    busy = covered(device.busy - unrecorded, steps.starts, steps.ends)
    nothing = np.zeros(len(busy), np.int64)
    by_part = {COMPUTE: busy - sum(parts.values(), nothing)}
    by_part[COLLECTIVES] = parts.get(COLLECTIVES, nothing)
    for name in (HOST_MEMORY, OUTPUT):
        if name in parts:
            by_part[name] = parts[name]
    if unrecorded or UNTOLD in parts:
        lost_ps = covered(unrecorded, steps.starts, steps.ends)
        by_part[UNTOLD] = lost_ps + parts.get(UNTOLD, nothing)
    rest = union(steps.starts, steps.ends) - merged(device.busy, unrecorded)
    get_next = trace.all_get_next
    compiling = merged(trace.compiles, tracing(trace.calls))
    if infeed and get_next:
        by_part[INPUT[1]] = covered(infeed & get_next, steps.starts, steps.ends)
        by_part[INPUT[2]] = parts[INFEED] - by_part[INPUT[1]]
    elif infeed:
        by_part[INPUT[0]] = parts[INFEED]
    blame = (
        (COMPILATION, compiling),
        (INPUT[1], EMPTY if infeed else get_next),
        (TO_DEVICE, trace.transfers),
    )
    shared, rest = shared_out(rest, (each for each in blame if each[1]))
    for name, spans in {**shared, IDLE: rest}.items():
        by_part[name] = covered(spans, steps.starts, steps.ends)
    return _replica(label, device.name, steps, by_part)


def of_host(
    trace: HostRead,
    devices: Sequence[DeviceRead],
    marks: Sequence[Mark],
    label: str,
    source: str,
    *,
    recovered: bool = False,
) -> HostSteps:
    """Steps of the training loop: its devices' where it has some, else the host's."""
    rows = [
        (mark.number if mark.numbered else place, mark.start, mark.end)
        for place, mark in enumerate(marks)
    ]
    steps = Steps(*np.array(rows, np.int64).T)
    if any(device.busy for device in devices):
        return made(trace, [(device, steps) for device in devices], label, source, recovered)
    waiting = _waiting(trace, {mark.thread for mark in marks}) if trace.get_next else EMPTY
    computing = merged(trace.kernels, trace.eager)
    blame = (
        (INPUT[1], waiting),
        (COMPILATION, trace.compiles),
        (COMPUTE, computing),
        (COLLECTIVES, trace.collectives),
    )
    known = (
        (name, spans) for name, spans in blame if spans or (name == INPUT[1] and trace.get_next)
    )
    shared, rest = shared_out(union(steps.starts, steps.ends), known)
    # A trace without any kernel did not record the host's work: that is no idle time.
    shared[IDLE if computing else UNTOLD] = rest
    by_part = {name: covered(spans, steps.starts, steps.ends) for name, spans in shared.items()}
    replica = _replica(label, "host", steps, by_part)
    ends = dict(zip(steps.numbers.tolist(), steps.ends.tolist(), strict=True))
    wait = _get_next(trace) if trace.get_next else None
    return HostSteps((replica,), source, wait, recovered, ends)


def placed(steps: HostSteps | None, clock: Clock) -> HostSteps | None:
    """The steps, without their starts where they cannot be placed in the epoch's time."""
    if steps is None or clock.since_start:
        return steps
    replicas = tuple(replace(replica, starts_ms=None) for replica in steps.replicas)
    return replace(steps, replicas=replicas)


def _get_next(trace: HostRead) -> str:
    return WHOLE_CALL_WAIT if trace.get_next_whole else GET_NEXT_WAIT


def _waiting(trace: HostRead, threads: set[str]) -> Spans:
    """When the loop on these threads waited for input.

    A call on the loop's own thread blocks it. A call on another blocks it while no kernel of
    the host runs.
    """
    own = [spans for name, spans in trace.get_next.items() if name in threads]
    others = [spans for name, spans in trace.get_next.items() if name not in threads]
    return merged(*own, merged(*others) - trace.kernels)


def waits(trace: HostRead, devices: Sequence[DeviceRead]) -> Spans:
    """When a training loop of this host waited for input, whatever its steps are."""
    busy = merged(trace.kernels, *(device.busy for device in devices))
    infeed = [device.parts[INFEED] for device in devices if INFEED in device.parts]
    threads = {mark.thread for mark in steps_named(trace.marks, None)}
    threads |= {call.thread for call in trace.calls[:1]}
    own = [spans for name, spans in trace.get_next.items() if name in threads and not devices]
    return merged(*infeed, *own, trace.all_get_next - busy)


def _replica(label: str, name: str, steps: Steps, by_part: dict[str, Ints]) -> ReplicaSteps:
    parts = tuple(StepPart(part, _ms(np.maximum(ps, 0))) for part, ps in by_part.items())
    return ReplicaSteps(
        label,
        name,
        tuple(steps.numbers.tolist()),
        _ms(steps.ends - steps.starts),
        parts,
        _ms(steps.starts),
    )


def _ms(ps: Ints) -> tuple[float, ...]:
    return tuple((ps / PS_PER_MS).tolist())
