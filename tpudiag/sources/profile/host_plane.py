"""Reads a host's plane: steps, input, tf.functions, compilation, transfers, memory.

Checked against time.perf_counter around next(iterator) on CPU captures (TensorFlow 2.21, 2 and 8
replicas): an iterator's client waits in `IteratorGetNextOp::DoCompute`. Called eagerly it runs on
the calling thread, inside `EagerLocalExecute: IteratorGetNext`; inside a tf.function on a thread
of its own per replica, ahead of time where the function loops over steps. There an open call
counts as a wait only while no kernel runs (`ExecutorState::Process` on a tf_Compute thread);
functions of tf.data run on other threads. Python's own work in next() is no wait for input.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from tpudiag.signals import CallbackTime
from tpudiag.sources.profile.event_pattern import Events, joined
from tpudiag.sources.profile.events import Clock, Line
from tpudiag.sources.profile.functions import CALL, Call, calls
from tpudiag.sources.profile.host_read import HostRead, Mark
from tpudiag.sources.profile.host_roles import KEPT, Role, drives_tpu, role_of
from tpudiag.sources.profile.intervals import EMPTY, Ints, Spans, merged, union
from tpudiag.sources.profile.memory import allocations
from tpudiag.sources.profile.xspace import Plane
from tpudiag.sources.profile.xstats import named, texts

XLA_CPU = "tf_XLA"
COMPUTES = ("tf_Compute", XLA_CPU)
"""Threads on which kernels of the step run; tf.data has its own."""
THUNKS = "ThunkExecutor::Execute"
POOLS = ("tf_", "collective_ops")
"""Prefixes of TensorFlow's own threads, on which no training loop marks its steps."""


class _Gathering:
    def __init__(self, plane: Plane, span: str | None, clock: Clock) -> None:
        self.plane, self.clock = plane, clock
        self.read = HostRead()
        # At most 4 million: a damaged id must not make a table that fills the memory.
        size = max((i for i in plane.names if i < 1 << 22), default=0) + 2
        # A table from id to role: each name is matched once, and events by one vector lookup.
        self.roles = np.full(size, -1, np.int8)
        for id_, name in plane.names.items():
            if 0 <= id_ < size:
                self.roles[id_] = role_of(name, span)
        self.get_next_calls: dict[str, Spans] = {}
        self.found: defaultdict[Role, list[tuple[Ints, Ints, Ints]]] = defaultdict(list)
        self.ids = {name: plane.stat_id(name) for name in ("step_num", CALL)}
        self.hlo_op = {"hlo_op": plane.stat_id("hlo_op")}
        self.thunks = np.array(
            [i for i, n in plane.names.items() if n.startswith(THUNKS)], np.int64
        )
        self.xla_ops: list[Spans] = []
        self.allocating: list[tuple[Events, int]] = []
        """Allocations not read yet, each with the start of its line."""
        self.refers = self.ids[CALL] is None
        """Whether stats refer to strings, rather than hold them in each event."""

    def line(self, line: Line) -> None:
        """Read one thread of the host; raises Damaged."""
        begin = self.clock.start_ps(line)
        kept: defaultdict[Role, list[tuple[Ints, Ints, Ints]]] = defaultdict(list)
        for events in line.windows():
            roles = self.roles[np.clip(events.ids, 0, len(self.roles) - 1)]
            roles[events.ids < 0] = -1
            self.plane.counts["strangers"] += int((roles == -1).sum())
            if len(events):
                first = begin + int(events.offsets.min())
                last = begin + int((events.offsets + events.durations).max())
                known = self.read.spans_ps or (first, last)
                self.read.spans_ps = (min(known[0], first), max(known[1], last))
            if self.thunks.size or self.hlo_op["hlo_op"] is not None:
                self._xla_ops(events, begin)
            present = set(np.flatnonzero(np.bincount(roles + 1)) - 1)
            for role in KEPT:
                if role in present:
                    some = events.chosen(roles == role)
                    starts = begin + some.offsets
                    kept[role].append((some.ids, starts, starts + some.durations))
            self.read.executes |= Role.KERNEL in present
            if Role.MEMORY in present:
                # Lines that were decoded together are read together.
                if self.allocating and self.allocating[-1][0].words is not events.words:
                    self._allocated()
                self.allocating.append((events.chosen(roles == Role.MEMORY), begin))
            # Steps are marked in Python, where the training loop runs: skip the stats of the pools,
            # which hold most events by far.
            if not line.name.startswith(POOLS):
                self._loop(line, events, begin)
        self._keep(line, kept)

    def _allocated(self) -> None:
        if self.allocating:
            self.read.memory.append(allocations(self.plane, joined(self.allocating)))
            self.allocating = []

    def _xla_ops(self, events: Events, begin: int) -> None:
        """Operations of a program that XLA compiled for the CPU (JAX): the host computes.

        Operations on a thread pool return long before their work is done; until then the program
        waits for its completion.
        """
        is_op = named(events, self.hlo_op)["hlo_op"][1] | np.isin(events.ids, self.thunks)
        is_op[list(texts(events, self.hlo_op)["hlo_op"])] = True
        some = events.chosen(is_op)
        if len(some):
            starts = begin + some.offsets
            self.xla_ops.append(union(starts, starts + some.durations))

    def _keep(self, line: Line, kept: dict[Role, list[tuple[Ints, Ints, Ints]]]) -> None:
        for role, parts in kept.items():
            ids, starts, ends = (np.concatenate(column) for column in zip(*parts, strict=True))
            if role in (Role.GET_NEXT, Role.ASK):
                into = self.read.get_next if role is Role.GET_NEXT else self.get_next_calls
                into[line.name] = merged(into.get(line.name, EMPTY), union(starts, ends))
            elif role is Role.ITERATOR:
                self.read.iterators.add(self.plane.names, ids, starts, ends)
            elif role in (Role.SPAN, Role.JIT):
                columns = (ids.tolist(), starts.tolist(), ends.tolist())
                for id_, start, end in zip(*columns, strict=True):
                    self._named(role, line.name, self.plane.names[id_], start, end)
            elif role in (Role.CALLBACK, Role.EAGER):
                of_input = role is Role.CALLBACK and line.name.startswith("tf_data")
                self.found[Role.PYTHON if of_input else role].append((ids, starts, ends))
            # Kernels on threads of tf.data are the input's work: counted as the step's they would
            # hide that the step waits.
            elif role is not Role.KERNEL or line.name.startswith(COMPUTES):
                spans = union(starts, ends)
                self.found[role].append((ids[:0], spans.starts, spans.ends))

    def _loop(self, line: Line, events: Events, begin: int) -> None:
        """Marked steps and calls of tf.functions on a thread that may hold the training loop."""
        if all(id_ is None for id_ in self.ids.values()):
            return
        stats = named(events, self.ids)
        numbers, marked = stats["step_num"]
        for index in np.flatnonzero(marked).tolist():
            start = begin + int(events.offsets[index])
            end = start + int(events.durations[index])
            name = self.plane.names.get(int(events.ids[index]), "")
            mark = Mark(name, line.name, int(numbers[index]), start, end, numbered=True)
            self.read.marks.append(mark)
        called = stats[CALL][1]
        if called.any():
            self.refers = True
        elif not self.refers:
            called[list(texts(events, {CALL: self.ids[CALL]})[CALL])] = True
        if called.any():
            self.read.calls += calls(self.plane, events.chosen(called), begin, line.name)

    def _named(self, role: Role, thread: str, name: str, start: int, end: int) -> None:
        """Note an event of the requested name, or a call of a function that JAX compiled."""
        if role is Role.SPAN:
            number = len(self.read.marks)
            self.read.marks.append(Mark(name, thread, number, start, end, numbered=False))
        else:
            # `train_step` of `PjitFunction(train_step)`
            self.read.jitted.append(Call(name.partition("(")[2][:-1], thread, start, end))

    def done(self) -> HostRead:
        """The result for the whole plane."""
        self._allocated()
        read = self.read
        # At a low trace level the profile holds only the call from Python, not the work inside.
        if not read.get_next and self.get_next_calls:
            read.get_next, read.get_next_whole = self.get_next_calls, True
        read.drives_tpu = drives_tpu(self.plane.names.values())
        read.marks.sort(key=lambda mark: (mark.start, -mark.end))
        for called in (read.calls, read.jitted):
            called.sort(key=lambda call: (call.start, -call.end))
        read.kernels = merged(self._all(Role.KERNEL), *self.xla_ops)
        read.collectives = self._all(Role.COLLECTIVE)
        read.eager = self._all(Role.EAGER)
        read.compiles = self._all(Role.COMPILE)
        read.transfers = self._all(Role.TO_DEVICE)
        read.eager_ops = self._longest_first(Role.EAGER)
        read.callbacks = self._longest_first(Role.CALLBACK)
        read.pipeline_callbacks = self._longest_first(Role.PYTHON)
        return read

    def _all(self, role: Role) -> Spans:
        return merged(*(union(starts, ends) for _, starts, ends in self.found[role]))

    def _longest_first(self, role: Role) -> tuple[CallbackTime, ...]:
        """The events of a role, summed by name."""
        sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for ids, starts, ends in self.found[role]:
            for id_, ps in zip(ids.tolist(), (ends - starts).tolist(), strict=True):
                entry = sums[self.plane.names[id_]]
                entry[0] += 1
                entry[1] += ps
        made = (
            CallbackTime(name.rpartition(": ")[2], count, ps / 1e9)
            for name, (count, ps) in sums.items()
        )
        return tuple(sorted(made, key=lambda callback: -callback.ms))


def read_host(plane: Plane, span: str | None = None, clock: Clock | None = None) -> HostRead:
    """Read a host plane; `span` requests the events of that name as well. Raises wire.Damaged."""
    if not plane.spans:
        return HostRead()
    gathering = _Gathering(plane, span, clock or Clock())
    for line in plane.lines():
        gathering.line(line)
    return gathering.done()


def steps_named(marks: Iterable[Mark], name: str | None) -> tuple[Mark, ...]:
    """The marks of one name, nested ones left out.

    None selects the steps of the training loop: the numbered marks called `train`, or those of
    the name with the most steps.
    """
    marks = tuple(marks)
    if name is None:
        numbered = [mark for mark in marks if mark.numbered]
        names = Counter(mark.name for mark in numbered)
        name = "train" if "train" in names else max(names, key=lambda n: names[n], default=None)
        marks = tuple(numbered)
    steps: list[Mark] = []
    for mark in marks:
        if mark.name == name and not (steps and mark.start < steps[-1].end):
            steps.append(mark)
    return tuple(steps)
