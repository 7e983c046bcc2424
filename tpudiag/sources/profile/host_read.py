"""The data read from one host plane, and the iterators of its input pipelines."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tpudiag.signals import CallbackTime, IteratorTime
from tpudiag.sources.profile.functions import Call
from tpudiag.sources.profile.intervals import EMPTY, Ints, Spans, groups, merged, self_times, union
from tpudiag.sources.profile.memory import Allocations

INDEX = re.compile(r"\[\d+\]")
PREFIX = "Iterator::"
HAND_OVER = "Generator"
"""The op by which a distribution strategy passes elements to each replica's own iterator."""
MOSTLY = 0.5
"""The blame moves on to an op's input that works in this share of the op's own time."""


@dataclass
class _Sum:
    count: int = 0
    self_ps: int = 0
    longest_ps: int = 0
    spans: list[Spans] = field(default_factory=list[Spans])


@dataclass
class IteratorSpans:
    """The iterators of a host: collected thread by thread, then compared with the waits."""

    sums: dict[str, _Sum] = field(default_factory=dict[str, _Sum])

    def add(self, names: Mapping[int, str], ids: Ints, starts: Ints, ends: Ints) -> None:
        """Add the iterators of one thread; nested ones run inside their consumer's time."""
        own = self_times(starts, ends)
        distinct, place = groups(ids)
        for index, id_ in enumerate(distinct.tolist()):
            here = place == index
            entry = self.sums.setdefault(INDEX.sub("", names[id_]), _Sum())
            entry.count += int(here.sum())
            entry.self_ps += int(own[here].sum())
            entry.longest_ps = max(entry.longest_ps, int((ends - starts)[here].max()))
            entry.spans.append(union(starts[here], ends[here]))

    def times(self, waiting: Spans) -> Iterator[IteratorTime]:
        """Every op, from the end of the pipeline to its source.

        `waiting` is when the training loop waited for input; `blocked_ms` is the part of it caused
        by each op, 0 for all but one op of a pipeline.
        """
        spans = {name: merged(*entry.spans) for name, entry in self.sums.items()}
        blocked = dict(_blamed(spans, waiting))
        for name in sorted(self.sums):
            entry = self.sums[name]
            path = name.removeprefix(PREFIX).split("::")
            # Positions count from the source, as the user wrote them.
            depth = max(len(n.split("::")) for n in spans if n.startswith(name)) - 1
            yield IteratorTime(
                op=path[-1],
                name=name,
                position=depth - len(path),
                of=depth - 1,
                count=entry.count,
                self_ms=entry.self_ps / 1e9,
                longest_ms=entry.longest_ps / 1e9,
                blocked_ms=blocked.get(name, 0) / 1e9,
            )


def _blamed(spans: Mapping[str, Spans], waiting: Spans) -> Iterator[tuple[str, int]]:
    """The op that each pipeline waited for, and for how long (ps).

    The blame moves from the end of the pipeline towards its source as long as an op's input was
    at work while the op was waited for.
    """
    inputs: defaultdict[str, list[str]] = defaultdict(list)
    for name in spans:
        inputs[name.rpartition("::")[0]].append(name)
    for root in [name for name in spans if name.rpartition("::")[0] not in spans]:
        at, waited = root, spans[root] & waiting
        while waited:
            best, share = None, EMPTY
            above, _, op = at.rpartition("::")
            # By name alone: the host's pipelines from which a replica's iterator gets its elements.
            given = [other for other in inputs[above] if other != at] if op == HAND_OVER else []
            for name in inputs[at] or given:
                shared = spans[name] & waited
                if shared.total > share.total:
                    best, share = name, shared
            if best is None or share.total < MOSTLY * waited.total:
                break
            at, waited = best, share
        if waited:
            yield at, waited.total


class Mark(NamedTuple):
    """A span of the training loop, ps: a step with its number, or a named event without one."""

    name: str
    thread: str
    number: int
    start: int
    end: int
    numbered: bool


@dataclass(kw_only=True)
class HostRead:
    """One host plane; times in ps since the start of the file's clock."""

    marks: list[Mark] = field(default_factory=list[Mark])
    get_next: dict[str, Spans] = field(default_factory=dict[str, Spans])
    """Time in GetNext, by thread; empty where no iterator was traced."""
    get_next_whole: bool = False
    """Whether it is the time of whole eager calls, because their work was not traced."""
    kernels: Spans = EMPTY
    executes: bool = False
    """Whether TensorFlow's executor was traced, so that its ops would be visible."""
    collectives: Spans = EMPTY
    compiles: Spans = EMPTY
    transfers: Spans = EMPTY
    """Host-to-device transfers; empty where none was traced."""
    iterators: IteratorSpans = field(default_factory=IteratorSpans)
    calls: list[Call] = field(default_factory=list[Call])
    """Calls of tf.functions, in the order of their starts."""
    jitted: list[Call] = field(default_factory=list[Call])
    """Calls of functions that jax.jit compiled."""
    callbacks: tuple[CallbackTime, ...] = ()
    pipeline_callbacks: tuple[CallbackTime, ...] = ()
    """Callbacks on tf.data's own threads."""
    memory: list[Allocations] = field(default_factory=list[Allocations])
    eager: Spans = EMPTY
    """Time in ops that ran eagerly from Python, without functions and iterators."""
    eager_ops: tuple[CallbackTime, ...] = ()
    drives_tpu: bool = False
    """Whether the host runs programs on a TPU, whatever devices the profile holds."""
    spans_ps: tuple[int, int] | None = None
    """From the first to the last event."""

    @property
    def python_seen(self) -> bool:
        """Whether calls from Python were traced."""
        return bool(self.calls or self.eager)

    @property
    def all_get_next(self) -> Spans:
        """Time in which any thread waited in GetNext."""
        return merged(*self.get_next.values()) if self.get_next else EMPTY
