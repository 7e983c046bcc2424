"""Where the steps are, and where their time goes: per replica, from a host's trace."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tpudiag.signals import ReplicaSteps, StepPart
from tpudiag.signals.profile import UNTOLD
from tpudiag.sources.profile.device_plane import PS_PER_MS, DeviceRead, Run
from tpudiag.sources.profile.edge_steps import Steps
from tpudiag.sources.profile.functions import Call, outermost, tracing
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
from tpudiag.sources.profile.op_kinds import COLLECTIVES, HOST_MEMORY, INFEED, OUTPUT

GET_NEXT_WAIT = "the work of IteratorGetNext on the host while nothing computed"
WHOLE_CALL_WAIT = "whole eager calls of IteratorGetNext on the host, their work was not traced"
INFEED_WAIT = "infeed ops of the devices"
STEPS_LINE = "Steps line"
INPUT = ("input", "input processing", "input transfer")
COMPUTE, TO_DEVICE, COMPILATION, IDLE = "compute", "host to device", "compilation", "idle"
TRAINS = re.compile(r"(?i).*(train|step|fit).*|cluster.*")
NOT_TRAINS = re.compile(
    r"(?i).*(predict|eval|test_(step|function)|serv(e|ing)|infer(?!ence_)|_on_data_distributed).*"
)
"""The last is predict() of Keras 3: `one_step_on_data_distributed`."""
UNMARKED = "no step is marked"
LEAST_RUNS = 4
"""A function or program that ran less often does not repeat."""
ONE = np.zeros(1, np.int64)
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
        return _made(trace, _marked(devices), label, STEPS_LINE, False)
    marks = steps_named(trace.marks, name)
    if marks:
        how = " with a step_num" if marks[0].numbered else ""
        source = f"events {marks[0].name!r}{how} on the host"
        return _of_host(trace, devices, marks, label, source, False)
    if name is not None:
        return _asked_for(trace, devices, name, label)
    return _recovered(trace, devices, label, training)


def _marked(devices: Sequence[DeviceRead]) -> list[tuple[DeviceRead, Steps]]:
    """The devices by the steps that they mark; one whose own marks are lost by its neighbours'."""
    marks = [device.steps for device in devices if device.steps is not None]
    longest = max(marks, key=lambda steps: len(steps.starts))
    return [
        (device, longest if device.steps is None else device.steps)
        for device in devices
        if device.steps is not None or device.busy or device.untold
    ]


def _asked_for(
    trace: HostRead, devices: Sequence[DeviceRead], name: str, label: str
) -> HostSteps | None:
    """The runs of the program, or the calls of the tf.function, that the user named."""
    programs = [(d, run) for d in devices for run in d.runs if _program_name(run) == name]
    if programs:
        return _by_program(trace, programs, label, f"runs of program {name!r} (--step-name)")
    called = [call for call in outermost(trace.calls) if call.name == name]
    source = f"calls of tf.function {name!r} (--step-name)"
    return _by_calls(trace, devices, called, label, source) if len(called) > 1 else None


def _program_name(run: Run) -> str:
    """`jit_f` of `jit_f(12190760917235803885)`."""
    return run.name.partition("(")[0]


def _recovered(
    trace: HostRead, devices: Sequence[DeviceRead], label: str, training: frozenset[str]
) -> HostSteps | None:
    """Steps that nothing marks: runs of one program, or calls of one training function."""
    dominant = [(device, run) for device in devices if (run := _program(device)) is not None]
    runs = [(device, run) for device, run in dominant if _trains(_program_name(run))]
    if runs:
        source = f"recovered from the runs of program {_program_name(runs[0][1])!r}; {UNMARKED}"
        return _by_program(trace, runs, label, source)
    called = _training_calls(trace, training)
    if len(called) >= LEAST_RUNS:
        source = f"recovered from the calls of tf.function {called[0].name!r}; {UNMARKED}"
        return _by_calls(trace, devices, called, label, source)
    runs = [(d, run) for d, run in dominant if not NOT_TRAINS.fullmatch(_program_name(run))]
    if not runs:
        return None
    source = (
        f"taken for the runs of program {_program_name(runs[0][1])!r}, which is most of the "
        f"devices' work; {UNMARKED}, and whether it trains is not known"
    )
    return _by_program(trace, runs, label, source)


def _by_program(
    trace: HostRead, runs: Sequence[tuple[DeviceRead, Run]], label: str, source: str
) -> HostSteps:
    """A step from each start of a program to its next."""
    steps = [
        (d, _between(run.starts) if len(run.starts) > 1 else Steps(ONE, run.starts, run.ends))
        for d, run in runs
    ]
    return _made(trace, steps, label, source, True)


def _training_calls(trace: HostRead, training: frozenset[str]) -> list[Call]:
    """The calls of the training function that took longest."""
    calls = outermost(trace.calls)
    known = [call for call in calls if call.name in training]
    trains = known or [call for call in calls if _trains(call.name)]
    time: Counter[str] = Counter()
    for call in trains:
        time[call.name] += call.end - call.start
    name = max(time, key=lambda n: time[n], default="")
    return [call for call in trains if call.name == name]


def _by_calls(
    trace: HostRead, devices: Sequence[DeviceRead], called: Sequence[Call], label: str, source: str
) -> HostSteps:
    """A step from each call of a function to its next."""
    name = called[0].name
    steps = _between(np.array([call.start for call in called], np.int64))
    marks = [
        Mark(name, called[0].thread, number, start, end, True)
        for number, start, end in zip(*(column.tolist() for column in steps), strict=True)
    ]
    return _of_host(trace, devices, marks, label, source, True)


def _program(device: DeviceRead) -> Run | None:
    """The program that is most of a device's work, and repeats."""
    longest = max(device.runs, key=lambda run: int((run.ends - run.starts).sum()), default=None)
    if longest is None or len(longest.starts) < LEAST_RUNS:
        return None
    share = int((longest.ends - longest.starts).sum()) / max(device.busy.total, 1)
    return longest if share >= MOST else None


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
    infeed = any(INFEED in device.parts for device, _ in steps)
    knows = infeed or bool(trace.asked)
    replicas = tuple(_on_device(trace, device, marks, label) for device, marks in steps)
    ends: dict[int, int] = {}
    for _, marks in steps:
        for number, end in zip(marks.numbers.tolist(), marks.ends.tolist(), strict=True):
            ends[number] = max(ends.get(number, end), end)
    wait = (INFEED_WAIT if infeed else _get_next(trace)) if knows else None
    return HostSteps(replicas, source, wait, recovered, ends)


def _on_device(trace: HostRead, device: DeviceRead, steps: Steps, label: str) -> ReplicaSteps:
    """The steps of one device: what it did, and while it did nothing, what the host did."""
    told = {part: without(spans, device.untold) for part, spans in device.parts.items()}
    parts = {part: covered(spans, steps.starts, steps.ends) for part, spans in told.items()}
    infeed = told.get(INFEED, EMPTY)
    busy = covered(without(device.busy, device.untold), steps.starts, steps.ends)
    nothing = np.zeros(len(busy), np.int64)
    by_part = {COMPUTE: busy - sum(parts.values(), nothing)}
    by_part[COLLECTIVES] = parts.get(COLLECTIVES, nothing)
    for name in (HOST_MEMORY, OUTPUT):
        if name in parts:
            by_part[name] = parts[name]
    if device.untold:
        by_part[UNTOLD] = covered(device.untold, steps.starts, steps.ends)
    rest = without(union(steps.starts, steps.ends), merged(device.busy, device.untold))
    asked = trace.all_asked
    compiling = merged(trace.compiles, tracing(trace.calls))
    if infeed and asked:
        by_part[INPUT[1]] = covered(common(infeed, asked), steps.starts, steps.ends)
        by_part[INPUT[2]] = parts[INFEED] - by_part[INPUT[1]]
    elif infeed:
        by_part[INPUT[0]] = parts[INFEED]
    blame = ((COMPILATION, compiling), (INPUT[1], EMPTY if infeed else asked),
             (TO_DEVICE, trace.transfers))  # fmt: skip
    for name, spans in blame:
        if spans:
            here = common(rest, spans)
            by_part[name] = covered(here, steps.starts, steps.ends)
            rest = without(rest, here)
    by_part[IDLE] = covered(rest, steps.starts, steps.ends)
    return _replica(label, device.name, steps, by_part)


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
    by_part: dict[str, Ints] = {}
    rest = union(steps.starts, steps.ends)
    computing = merged(trace.kernels, trace.eager)
    blame = ((INPUT[1], waiting), (COMPILATION, trace.compiles), (COMPUTE, computing),
             (COLLECTIVES, trace.collectives))  # fmt: skip
    for name, spans in blame:
        if spans or (name == INPUT[1] and trace.asked):
            here = common(rest, spans)
            by_part[name] = covered(here, steps.starts, steps.ends)
            rest = without(rest, here)
    by_part[IDLE] = covered(rest, steps.starts, steps.ends)
    replica = _replica(label, "host", steps, by_part)
    ends = dict(zip(steps.numbers.tolist(), steps.ends.tolist(), strict=True))
    wait = _get_next(trace) if trace.asked else None
    return HostSteps((replica,), source, wait, recovered, ends)


def _get_next(trace: HostRead) -> str:
    """What the wait for input was read from."""
    return WHOLE_CALL_WAIT if trace.asked_whole else GET_NEXT_WAIT


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
    infeed = [device.parts[INFEED] for device in devices if INFEED in device.parts]
    threads = {mark.thread for mark in steps_named(trace.marks, None)}
    threads |= {call.thread for call in trace.calls[:1]}
    own = [spans for name, spans in trace.asked.items() if name in threads and not devices]
    return merged(EMPTY, *infeed, *own, without(trace.all_asked, busy))


def _replica(label: str, name: str, steps: Steps, by_part: dict[str, Ints]) -> ReplicaSteps:
    """In ms."""
    parts = tuple(StepPart(part, _ms(np.maximum(ps, 0))) for part, ps in by_part.items())
    return ReplicaSteps(
        label, name, tuple(steps.numbers.tolist()), _ms(steps.ends - steps.starts), parts
    )


def _ms(ps: Ints) -> tuple[float, ...]:
    """Plain numbers in ms."""
    return tuple((ps / PS_PER_MS).tolist())
