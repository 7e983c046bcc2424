"""Step times: from the devices' own `Steps` lines, else from what the host marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tpudiag.signals import StepTimes
from tpudiag.sources.profile.devices import PS_PER_MS, DeviceRead, Step
from tpudiag.sources.profile.host import HostRead, Mark, steps_named
from tpudiag.sources.profile.intervals import Intervals, clipped, total, union, without

GET_NEXT_WAIT = "IteratorGetNext on the host while nothing computed"
INFEED_WAIT = "infeed ops of the devices"


@dataclass(frozen=True)
class StepRead:
    """One step of one host: its number, its length and its wait for input, in ms."""

    number: int
    ms: float
    wait_ms: float | None


@dataclass(frozen=True)
class HostSteps:
    """The steps of one host and where they come from."""

    steps: tuple[StepRead, ...]
    source: str
    wait_source: str


def device_steps(devices: Sequence[DeviceRead], host: HostRead | None) -> HostSteps | None:
    """From the `Steps` lines; None where there are none.

    A step is as long as on the device where it took longest. It waits for input in infeed ops;
    where the devices run none, while the host is in GetNext and the device runs no module.
    """
    marked = [device for device in devices if device.steps]
    if not marked:
        return None
    asked = _asked(host)
    infeed = any(device.infeed for device in marked)
    slowest: dict[int, StepRead] = {}
    for device in marked:
        waiting = device.infeed or () if infeed else without(asked, device.busy) if asked else None
        for step in device.steps:
            found = _step(step, waiting)
            known = slowest.get(step.number)
            slowest[step.number] = found if known is None else _slower(known, found)
    source = f"Steps line of {len(marked)} device{'s' * (len(marked) > 1)}"
    return HostSteps(tuple(slowest.values()), source, INFEED_WAIT if infeed else GET_NEXT_WAIT)


def host_steps(
    host: HostRead, devices: Sequence[DeviceRead], name: str | None = None
) -> HostSteps | None:
    """From events of the host that carry a step_num, or that are called `name`."""
    marks = steps_named(host.marks, name)
    if not marks:
        return None
    waiting = {thread: _waiting(host, thread, devices) for thread in {m.thread for m in marks}}
    steps = tuple(_step(mark.step, waiting[mark.thread]) for mark in marks)
    return HostSteps(steps, _host_source(marks), GET_NEXT_WAIT)


def merged(hosts: Sequence[HostSteps]) -> StepTimes | None:
    """The steps of all hosts: of one number, that of the host where it took longest."""
    if not hosts:
        return None
    if len(hosts) == 1:
        steps = hosts[0].steps
    else:
        slowest: dict[int, StepRead] = {}
        for found in (step for host in hosts for step in host.steps):
            known = slowest.get(found.number)
            slowest[found.number] = found if known is None else _slower(known, found)
        steps = tuple(slowest[number] for number in sorted(slowest))
    waits = [step.wait_ms for step in steps if step.wait_ms is not None]
    known_waits = tuple(waits) if len(waits) == len(steps) else None
    sources = " and ".join(sorted({host.source for host in hosts}))
    return StepTimes(
        step_ms=tuple(step.ms for step in steps),
        input_wait_ms=known_waits,
        source=sources,
        input_wait_source=None if known_waits is None else hosts[0].wait_source,
    )


def _step(step: Step, waiting: Intervals | None) -> StepRead:
    """A step with the part of `waiting` that falls into it."""
    wait = None if waiting is None else total(clipped(waiting, step.start, step.end)) / PS_PER_MS
    return StepRead(step.number, (step.end - step.start) / PS_PER_MS, wait)


def _slower(left: StepRead, right: StepRead) -> StepRead:
    """The longer of one step on two devices or hosts."""
    return left if left.ms >= right.ms else right


def _asked(host: HostRead | None) -> Intervals | None:
    """Time in which any thread asked for input; None where no iterator was traced."""
    if host is None or not host.asked:
        return None
    return union(span for spans in host.asked.values() for span in spans)


def _waiting(host: HostRead, thread: str, devices: Sequence[DeviceRead]) -> Intervals | None:
    """When the loop on `thread` waited for input; None where no iterator was traced.

    A call on that thread holds the loop up. A call on another holds it up while neither a
    kernel of the host nor a module of a device runs.
    """
    if not host.asked:
        return None
    own = host.asked.get(thread, ())
    others = union(s for name, spans in host.asked.items() if name != thread for s in spans)
    computing = union((*host.kernels, *(span for device in devices for span in device.busy)))
    return union((*own, *without(others, computing)))


def _host_source(marks: Sequence[Mark]) -> str:
    """What the steps were read from."""
    how = " with a step_num" if marks[0].numbered else ""
    return f"events {marks[0].name!r}{how} on the host"
