"""Where the steps are, and where their time goes: per replica, from a host's trace."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tpudiag.signals import ReplicaSteps, StepPart, StepTimes
from tpudiag.sources.profile.device_plane import PS_PER_MS, DeviceRead, Run, Steps
from tpudiag.sources.profile.functions import outermost, tracing
from tpudiag.sources.profile.host_plane import HostRead, Mark, steps_named
from tpudiag.sources.profile.intervals import (
    EMPTY,
    Ints,
    Spans,
    common,
    covered,
    merged,
    union,
    without,
)

GET_NEXT_WAIT = "IteratorGetNext on the host while nothing computed"
INFEED_WAIT = "infeed ops of the devices"
STEPS_LINE = "Steps line"
INPUT = ("input", "input processing", "input transfer")
COMPUTE, COLLECTIVES, TO_DEVICE = "compute", "collectives", "host to device"
OUTPUT, COMPILATION, IDLE = "output", "compilation", "idle"
TRAINS = re.compile(r"(?i).*(train|step|fit).*|cluster.*")
NOT_TRAINS = re.compile(
    r"(?i).*(predict|eval|test_(step|function)|serv(e|ing)|infer(?!ence_)|_on_data_distributed).*"
)
"""The last is predict() of Keras 3: `one_step_on_data_distributed`."""
LEAST_RUNS = 4
"""A function or program that ran less often does not repeat."""
MOST = 0.5
"""The program taken for the step has this share of the device's busy time at least."""


@dataclass(frozen=True)
class HostSteps:
    """The steps of one host: per replica, where they come from, and when they ended (ps)."""

    replicas: tuple[ReplicaSteps, ...]
    source: str
    """What marks them; where a device does, it is said without their number."""
    wait_source: str | None
    recovered: bool
    ends: dict[int, int]


def host_steps(
    host: HostRead | None, devices: Sequence[DeviceRead], name: str | None, label: str,
    training: frozenset[str] = frozenset(),
) -> HostSteps | None:  # fmt: skip
    """The steps of a host: marked by devices, marked by the loop, or recovered; else None.

    `name` asks for the host's events of that name instead; `training` are the functions known to
    train, where that is known better than by their names.
    """
    trace = host or HostRead()
    marked = [device for device in devices if device.steps is not None]
    if name is None and marked:
        by_device = [(device, device.steps) for device in marked if device.steps is not None]
        return _made(trace, by_device, label, STEPS_LINE, False)
    marks = steps_named(trace.marks, name)
    if marks:
        how = " with a step_num" if marks[0].numbered else ""
        source = f"events {marks[0].name!r}{how} on the host"
        return _of_host(trace, devices, marks, label, source, False)
    if name is not None:
        return None
    return _recovered(trace, devices, label, training)


def _recovered(
    trace: HostRead, devices: Sequence[DeviceRead], label: str, training: frozenset[str]
) -> HostSteps | None:
    """Steps that nothing marks: runs of one program, or calls of one training function."""
    runs = [(device, found) for device in devices if (found := _program(device)) is not None]
    if runs:
        program = runs[0][1].name.partition("(")[0]
        source = f"recovered from the runs of program {program!r}; no step is marked"
        return _made(trace, [(d, _between(run.starts)) for d, run in runs], label, source, True)
    calls = outermost(trace.calls)
    known = [call for call in calls if call.name in training]
    trains = known or [call for call in calls if _trains(call.name)]
    time: Counter[str] = Counter()
    for call in trains:
        time[call.name] += call.end - call.start
    name = max(time, key=lambda n: time[n], default="")
    called = [call for call in trains if call.name == name]
    if len(called) < LEAST_RUNS:
        return None
    steps = _between(np.array([call.start for call in called], np.int64))
    marks = [
        Mark(name, called[0].thread, number, start, end, True)
        for number, start, end in zip(*(column.tolist() for column in steps), strict=True)
    ]
    source = f"recovered from the calls of tf.function {name!r}; no step is marked"
    return _of_host(trace, devices, marks, label, source, True)


def _program(device: DeviceRead) -> Run | None:
    """The program that trains: it repeats, takes most of the busy time, and is called so."""
    found = max(device.runs, key=lambda run: int((run.ends - run.starts).sum()), default=None)
    if found is None or len(found.starts) < LEAST_RUNS:
        return None
    if not _trains(found.name.partition("(")[0]):
        return None
    share = int((found.ends - found.starts).sum()) / max(device.busy.total, 1)
    return found if share >= MOST else None


def _trains(name: str) -> bool:
    """Whether a function or program is called as one that trains."""
    return bool(TRAINS.fullmatch(name)) and not NOT_TRAINS.fullmatch(name)


def _between(starts: Ints) -> Steps:
    """From each start to the next; a pause (an epoch's end) is no part of the step before it."""
    gaps = np.diff(starts)
    usual = gaps <= 10 * max(int(np.sort(gaps)[len(gaps) // 2]), 1)
    numbers = np.arange(len(gaps), dtype=np.int64)
    return Steps(numbers[usual], starts[:-1][usual], starts[1:][usual])


def _made(
    trace: HostRead, steps: Sequence[tuple[DeviceRead, Steps]], label: str, source: str,
    recovered: bool,
) -> HostSteps:  # fmt: skip
    """Steps of devices, each taken apart."""
    infeed = any("infeed" in device.parts for device, _ in steps)
    knows = infeed or bool(trace.asked)
    replicas = tuple(_on_device(trace, device, found, label) for device, found in steps)
    ends: dict[int, int] = {}
    for _, found in steps:
        for number, end in zip(found.numbers.tolist(), found.ends.tolist(), strict=True):
            ends[number] = max(ends.get(number, end), end)
    wait = (INFEED_WAIT if infeed else GET_NEXT_WAIT) if knows else None
    return HostSteps(replicas, source, wait, recovered, ends)


def _on_device(trace: HostRead, device: DeviceRead, steps: Steps, label: str) -> ReplicaSteps:
    """The steps of one device: what it did, and while it did nothing, what the host did."""
    parts = {part: covered(spans, steps.starts, steps.ends) for part, spans in device.parts.items()}
    infeed, output = device.parts.get("infeed", EMPTY), parts.get("output")
    busy = covered(device.busy, steps.starts, steps.ends)
    found = {COMPUTE: busy - sum(parts.values(), np.zeros(len(busy), np.int64))}
    found[COLLECTIVES] = parts.get(COLLECTIVES, np.zeros(len(busy), np.int64))
    rest = without(union(steps.starts, steps.ends), device.busy)
    asked = trace.all_asked
    compiling = merged(trace.compiles, tracing(trace.calls))
    if infeed and asked:
        found[INPUT[1]] = covered(common(infeed, asked), steps.starts, steps.ends)
        found[INPUT[2]] = parts["infeed"] - found[INPUT[1]]
    elif infeed:
        found[INPUT[0]] = parts["infeed"]
    blame = ((COMPILATION, compiling), (INPUT[1], EMPTY if infeed else asked),
             (TO_DEVICE, trace.transfers))  # fmt: skip
    for name, spans in blame:
        if spans:
            here = common(rest, spans)
            found[name] = covered(here, steps.starts, steps.ends)
            rest = without(rest, here)
    if output is not None:
        found[OUTPUT] = output
    found[IDLE] = covered(rest, steps.starts, steps.ends)
    return _replica(label, device.name, steps, found)


def _of_host(
    trace: HostRead, devices: Sequence[DeviceRead], marks: Sequence[Mark], label: str, source: str,
    recovered: bool,
) -> HostSteps:  # fmt: skip
    """Steps of the training loop: those of its devices where it has some, else of the host."""
    columns = ([mark.number for mark in marks], [mark.start for mark in marks],
               [mark.end for mark in marks])  # fmt: skip
    numbered = marks[0].numbered
    steps = Steps(*(np.array(column, np.int64) for column in columns))
    if not numbered:
        steps = Steps(np.arange(len(marks), dtype=np.int64), steps.starts, steps.ends)
    if any(device.busy for device in devices):
        return _made(trace, [(device, steps) for device in devices], label, source, recovered)
    waiting = _waiting(trace, {mark.thread for mark in marks}) if trace.asked else EMPTY
    found: dict[str, Ints] = {}
    rest = union(steps.starts, steps.ends)
    computing = merged(trace.kernels, trace.eager)
    blame = ((INPUT[1], waiting), (COMPILATION, trace.compiles), (COMPUTE, computing),
             (COLLECTIVES, trace.collectives))  # fmt: skip
    for name, spans in blame:
        if spans or (name == INPUT[1] and trace.asked):
            here = common(rest, spans)
            found[name] = covered(here, steps.starts, steps.ends)
            rest = without(rest, here)
    found[IDLE] = covered(rest, steps.starts, steps.ends)
    replica = _replica(label, "host", steps, found)
    ends = dict(zip(steps.numbers.tolist(), steps.ends.tolist(), strict=True))
    return HostSteps((replica,), source, GET_NEXT_WAIT if trace.asked else None, recovered, ends)


def _waiting(trace: HostRead, threads: set[str]) -> Spans:
    """When the loop on these threads waited for input.

    A call on the loop's own thread holds it up. A call on another holds it up while no kernel of
    the host runs.
    """
    own = [spans for name, spans in trace.asked.items() if name in threads]
    others = [spans for name, spans in trace.asked.items() if name not in threads]
    return merged(*own, without(merged(EMPTY, *others), trace.kernels))


def waits(trace: HostRead, devices: Sequence[DeviceRead]) -> Spans:
    """When a training loop of this host waited for input, whatever its steps are."""
    busy = merged(trace.kernels, *(device.busy for device in devices))
    infeed = [device.parts["infeed"] for device in devices if "infeed" in device.parts]
    threads = {mark.thread for mark in steps_named(trace.marks, None)}
    threads |= {call.thread for call in trace.calls[:1]}
    own = [spans for name, spans in trace.asked.items() if name in threads and not devices]
    return merged(EMPTY, *infeed, *own, without(trace.all_asked, busy))


def _replica(label: str, name: str, steps: Steps, found: dict[str, Ints]) -> ReplicaSteps:
    """In ms."""
    parts = tuple(StepPart(part, _ms(np.maximum(ps, 0))) for part, ps in found.items())
    return ReplicaSteps(
        label, name, tuple(steps.numbers.tolist()), _ms(steps.ends - steps.starts), parts
    )


def _ms(ps: Ints) -> tuple[float, ...]:
    """Plain numbers in ms."""
    return tuple((ps / PS_PER_MS).tolist())


def step_times(hosts: Sequence[HostSteps], suffix: str = "") -> StepTimes | None:
    """The steps of all hosts: of one number, as long as where it took longest.

    It waited for input as long as the replica that the others waited for: the one whose own work
    (all but the collectives, in which the fast wait for the slow) took longest.
    """
    if not hosts:
        return None
    slowest: dict[tuple[int, int], tuple[float, float | None, float]] = {}
    knows = all(host.wait_source for host in hosts)
    replicas = [replica for host in hosts for replica in host.replicas]
    for replica in replicas:
        waits = _summed(replica, INPUT) if knows else [None] * len(replica.numbers)
        others = _summed(replica, (COLLECTIVES,))
        seen: Counter[int] = Counter()
        for number, ms, wait, other in zip(
            replica.numbers, replica.step_ms, waits, others, strict=True
        ):
            # The loop may start its numbers anew in every epoch: those are other steps.
            key = (seen[number], number)
            seen[number] += 1
            found = (ms - other, wait, ms)
            known = slowest.get(key, found)
            own, kept, longest = max(known, found, key=lambda step: (step[0], step[1] or 0.0))
            slowest[key] = (own, kept, max(longest, known[2], ms))
    if not slowest:
        return None
    steps = [step for _, step in sorted(slowest.items())]
    whose = " of the replica that the others wait for" if len(replicas) > 1 else ""
    return StepTimes(
        step_ms=tuple(ms for _, _, ms in steps),
        input_wait_ms=tuple(wait or 0.0 for _, wait, _ in steps) if knows else None,
        source=_sources(hosts) + suffix,
        recovered=any(host.recovered for host in hosts),
        input_wait_source=f"{hosts[0].wait_source}{whose}" if knows else None,
    )


def _sources(hosts: Sequence[HostSteps]) -> str:
    """What marks the steps of a run, and on how many devices where they do."""
    count = sum(len(host.replicas) for host in hosts if host.source == STEPS_LINE)
    line = f"{STEPS_LINE} of {count:,} device{'s' * (count > 1)}"
    found = {line if host.source == STEPS_LINE else host.source for host in hosts}
    return " and ".join(sorted(found))


def _summed(replica: ReplicaSteps, names: Sequence[str]) -> list[float]:
    """The ms of each step in the parts of these names."""
    found = [part.ms for part in replica.parts if part.name in names]
    return [sum(ms) for ms in zip(*found, strict=True)] or [0.0] * len(replica.numbers)
