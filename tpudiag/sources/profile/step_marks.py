"""Where the steps of a host are: marked by devices or the loop, requested by name, or recovered."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tpudiag.sources.profile.device_plane import DeviceRead, Run
from tpudiag.sources.profile.edge_steps import Steps
from tpudiag.sources.profile.functions import Call, outermost
from tpudiag.sources.profile.host_plane import steps_named
from tpudiag.sources.profile.host_read import HostRead, Mark
from tpudiag.sources.profile.intervals import Ints, union
from tpudiag.sources.profile.step_breakdown import STEPS_LINE, HostSteps, made, of_host

TRAINS = re.compile(r"(?i).*(train|step|fit).*|cluster.*")
NOT_TRAINS = re.compile(
    r"(?i).*(predict|eval|test_(step|function)|serv(e|ing)|infer(?!ence_)|_on_data_distributed).*"
)
"""The last is predict() of Keras 3: `one_step_on_data_distributed`."""
UNMARKED = "no step is marked"
LEAST_RUNS = 4
"""A function or program that ran less often does not count as repeating."""
MARKED = 0.8
"""Marks that hold more than this share of the program's time surround whole steps."""
ONE = np.zeros(1, np.int64)
MOST = 0.5
"""The program taken for the step has at least this share of the device's busy time."""


def host_steps(
    trace: HostRead,
    devices: Sequence[DeviceRead],
    name: str | None,
    label: str,
    training: frozenset[str] = frozenset(),
) -> HostSteps | None:
    """The steps of a host: marked by devices, marked by the loop, or recovered; else None.

    `name` selects the host's events of that name instead; `training` are the functions known to
    train, where that is known better than from their names.
    """
    marked = [device for device in devices if device.steps is not None]
    # The device's marks are exact; the host's deviate by the length of the queue between both.
    if name is None and marked:
        return made(trace, _marked(devices), label, STEPS_LINE, False)
    marks = steps_named(trace.marks, name)
    if marks:
        how = " with a step_num" if marks[0].numbered else ""
        source = f"events {marks[0].name!r}{how} on the host"
        if name is None and (ahead := _dispatched_ahead(devices, marks)):
            why = f"{source} end before the devices' work: they only dispatch it"
            program = _program_name(ahead[0][1])
            return _by_program(trace, ahead, label, f"runs of program {program!r}; {why}")
        return of_host(trace, devices, marks, label, source)
    if name is not None:
        return _asked_for(trace, devices, name, label)
    return _recovered(trace, devices, label, training)


def _marked(devices: Sequence[DeviceRead]) -> list[tuple[DeviceRead, Steps]]:
    """The devices with the steps they mark; one that lost its marks uses its neighbour's."""
    marks = [device.steps for device in devices if device.steps is not None]
    longest = max(marks, key=lambda steps: len(steps.starts))
    return [
        (device, longest if device.steps is None else device.steps)
        for device in devices
        if device.steps is not None or device.busy or device.unrecorded
    ]


def _dispatched_ahead(
    devices: Sequence[DeviceRead], marks: Sequence[Mark]
) -> list[tuple[DeviceRead, Run]]:
    """The devices and their program where it runs outside the host's marks; else none.

    Dispatch is asynchronous: a loop that does not wait for its results marks only the dispatch.
    """
    runs = [(device, run) for device in devices if (run := _program(device)) is not None]
    if not runs or any(NOT_TRAINS.fullmatch(_program_name(run)) for _, run in runs):
        return []
    marked = union(*np.array([(mark.start, mark.end) for mark in marks], np.int64).T)
    work = [union(run.starts, run.ends) for _, run in runs]
    inside = sum((spans & marked).total for spans in work)
    # Work inside the marks: the loop waited for it, and the marks are the steps. Mostly outside:
    # they are only the dispatch.
    return runs if inside < MARKED * sum(spans.total for spans in work) else []


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
    """Unmarked steps: runs of one program, or calls of one training function."""
    dominant = [(device, run) for device in devices if (run := _program(device)) is not None]
    runs = [(device, run) for device, run in dominant if _trains(_program_name(run))]
    if runs:
        source = f"recovered from the runs of program {_program_name(runs[0][1])!r}; {UNMARKED}"
        return _by_program(trace, runs, label, source)
    called = _training_calls(trace.calls, training)
    if len(called) >= LEAST_RUNS:
        source = f"recovered from the calls of tf.function {called[0].name!r}; {UNMARKED}"
        return _by_calls(trace, devices, called, label, source)
    whole = [call for call in called if not call.traced]
    if whole and not devices:
        # On a host whose own CPU computes each call lasts as long as its step.
        marks = [
            Mark(call.name, call.thread, number, call.start, call.end, numbered=True)
            for number, call in enumerate(whole)
        ]
        count = f"{len(whole)} whole call{'s' * (len(whole) > 1)}"
        source = f"recovered from {count} of tf.function {whole[0].name!r}; {UNMARKED}"
        return of_host(trace, (), marks, label, source, recovered=True)
    jitted = _training_calls(trace.jitted, training)
    if len(jitted) >= LEAST_RUNS and not devices:
        source = f"recovered from the calls of jax.jit's {jitted[0].name!r}; {UNMARKED}"
        return _by_calls(trace, devices, jitted, label, source)
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
    """Steps from each start of a program to its next."""
    steps = [
        (d, _between(run.starts) if len(run.starts) > 1 else Steps(ONE, run.starts, run.ends))
        for d, run in runs
    ]
    return made(trace, steps, label, source, True)


def _training_calls(made: Sequence[Call], training: frozenset[str]) -> list[Call]:
    """The calls of the slowest training function, without nested ones."""
    calls = outermost(made)
    # Functions that a rehearsal saw taking gradients come before those that only sound like it.
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
    """Steps from each call of a function to its next."""
    name = called[0].name
    steps = _between(np.array([call.start for call in called], np.int64))
    marks = [
        Mark(name=name, thread=called[0].thread, number=number, start=start, end=end, numbered=True)
        for number, start, end in zip(*(column.tolist() for column in steps), strict=True)
    ]
    return of_host(trace, devices, marks, label, source, recovered=True)


def _program(device: DeviceRead) -> Run | None:
    """The repeated program that makes up most of a device's work."""
    longest = device.longest_run
    if longest is None or len(longest.starts) < LEAST_RUNS:
        return None
    share = int((longest.ends - longest.starts).sum()) / max(device.busy.total, 1)
    return longest if share >= MOST else None


def _trains(name: str) -> bool:
    return bool(TRAINS.fullmatch(name)) and not NOT_TRAINS.fullmatch(name)


def _between(starts: Ints) -> Steps:
    """Steps from each start to the next; a pause (an epoch's end) is no part of a step."""
    gaps = np.diff(starts)
    # The median: an evaluation between two epochs takes minutes and would raise the mean.
    usual = gaps <= 10 * max(int(np.sort(gaps)[len(gaps) // 2]), 1)
    numbers = np.arange(len(gaps), dtype=np.int64)
    return Steps(numbers[usual], starts[:-1][usual], starts[1:][usual])
