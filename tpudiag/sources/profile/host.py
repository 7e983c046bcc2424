"""What a host's plane says: marked steps, and when the training loop asked for input.

Held against time.perf_counter around next(iterator) on CPU captures (TensorFlow 2.21, 2 and 8
replicas): an iterator's client waits in `IteratorGetNextOp::DoCompute`. Called eagerly it runs
on the calling thread, inside `EagerLocalExecute: IteratorGetNext`; inside a tf.function on a
thread of its own for each replica, ahead of time where the function loops over steps. There an
open call is only a wait while no kernel runs (`ExecutorState::Process` on a tf_Compute thread);
functions of tf.data run on other threads. Python's own work in next() is no wait for input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from tpudiag.sources.profile.devices import Step
from tpudiag.sources.profile.intervals import Interval, Intervals, union
from tpudiag.sources.profile.schema import XEvent
from tpudiag.sources.profile.xspace import Line, Plane

GET_NEXT = re.compile(r"IteratorGetNext\w*Op::DoCompute|EagerLocalExecute: IteratorGetNext\w*")
POOLS = ("tf_", "collective_ops")
"""Threads of TensorFlow's own, on which no training loop marks its steps."""


class Role(Enum):
    """What an event means for the step it falls into."""

    GET_NEXT = "get next"
    KERNEL = "kernel"
    SPAN = "span"
    OTHER = "other"
    STRANGER = "stranger"
    """Its id has no metadata."""


@dataclass(frozen=True)
class Mark:
    """A span of the training loop: a step with its number, or a named event without one."""

    name: str
    thread: str
    step: Step
    numbered: bool


@dataclass(frozen=True)
class HostRead:
    """One host plane, times in ps."""

    marks: tuple[Mark, ...]
    asked: Mapping[str, Intervals]
    """Time in GetNext calls, by thread; empty where no iterator was traced."""
    kernels: Intervals
    strangers: int
    unknown_bytes: int
    events: int


class _Gathering:
    """What is gathered in one pass over a host plane."""

    def __init__(self, plane: Plane, span: str | None) -> None:
        self.plane = plane
        self.roles = _roles(plane, span)
        self.step_stat = plane.stat_id("step_num")
        self.marks: list[Mark] = []
        self.asked: dict[str, list[Interval]] = {}
        self.kernels: list[Interval] = []
        self.strangers = self.events = 0
        self.unknown_bytes = plane.unknown_bytes

    def line(self, line: Line) -> None:
        """One thread of the host."""
        self.unknown_bytes += line.unknown_bytes
        self.events += len(line.message.events)
        marks_steps = self.step_stat is not None and not line.name.startswith(POOLS)
        computes = line.name.startswith("tf_Compute")
        for event in line.message.events:
            role = self.roles.get(event.metadata_id, Role.STRANGER)
            if role is Role.KERNEL and computes:
                self.kernels.append(line.span(event))
            elif role is Role.GET_NEXT:
                self.asked.setdefault(line.name, []).append(line.span(event))
            elif role is Role.SPAN:
                self._mark(line, event, None)
            elif role is Role.STRANGER:
                self.strangers += 1
            if marks_steps and (number := self._number(event)) is not None:
                self._mark(line, event, number)

    def _mark(self, line: Line, event: XEvent, number: int | None) -> None:
        """Note a step, or an event of the name that was asked for."""
        step = Step(len(self.marks) if number is None else number, *line.span(event))
        name = self.plane.names.get(event.metadata_id, "")
        self.marks.append(Mark(name, line.name, step, number is not None))

    def _number(self, event: XEvent) -> int | None:
        """The number of the step that an event marks, None where it marks none."""
        for stat in event.stats:
            if stat.metadata_id == self.step_stat:
                return int(stat.int64_value or stat.uint64_value)
        return None


def read_host(plane: Plane, span: str | None = None) -> HostRead:
    """Read a host plane; `span` asks for the events of that name as well. Raises wire.Damaged."""
    found = _Gathering(plane, span)
    for line in plane.lines():
        found.line(line)
    return HostRead(
        tuple(sorted(found.marks, key=lambda mark: (mark.step.start, -mark.step.end))),
        {thread: union(spans) for thread, spans in found.asked.items()},
        union(found.kernels), found.strangers, found.unknown_bytes, found.events,
    )  # fmt: skip


def _roles(plane: Plane, span: str | None) -> dict[int, Role]:
    """What the events of each id mean."""
    return {
        mid: Role.SPAN if name == span
        else Role.GET_NEXT if GET_NEXT.fullmatch(name)
        else Role.KERNEL if name == "ExecutorState::Process"
        else Role.OTHER
        for mid, name in plane.names.items()
    }  # fmt: skip


def steps_named(marks: Iterable[Mark], name: str | None) -> tuple[Mark, ...]:
    """The marks of one name, nested ones left out.

    None asks for the steps of the training loop: the numbered marks called `train`, or those of
    the name that marks most steps.
    """
    marks = tuple(marks)
    if name is None:
        numbered = [mark for mark in marks if mark.numbered]
        names = [mark.name for mark in numbered]
        name = "train" if "train" in names else max(names, key=names.count, default=None)
        marks = tuple(numbered)
    found: list[Mark] = []
    for mark in marks:
        if mark.name == name and not (found and mark.step.start < found[-1].step.end):
            found.append(mark)
    return tuple(found)
