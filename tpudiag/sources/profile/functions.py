"""Calls of tf.functions in a trace, and which of them traced."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tpudiag.signals import Retrace, TracedFunction
from tpudiag.sources.profile.event_pattern import Events
from tpudiag.sources.profile.intervals import Spans, union
from tpudiag.sources.profile.xspace import Plane
from tpudiag.sources.profile.xstats import REF, texts, whole_numbers

PS_PER_MS = 1e9
CALL = "tf_function_call"
TRAINING = ("train", "step", "fit")


class Call(NamedTuple):
    """One call of a tf.function from Python; times in ps."""

    name: str
    thread: str
    start: int
    end: int
    traced: bool = False
    traces: int | None = None
    """How often the function had been traced by then, since the process began."""


def calls(plane: Plane, events: Events, begin: int, thread: str) -> list[Call]:
    """The calls among the events that carry a `tf_function_call`."""
    kind_id, count_id = plane.stat_id(CALL), plane.stat_id("tracing_count")
    kinds, counts = [""] * len(events), dict[int, int]()
    for some in whole_numbers(events, [id_ for id_ in (kind_id, count_id) if id_ is not None]):
        for index, id_, tag, value in zip(*(column.tolist() for column in some), strict=True):
            if id_ == kind_id and tag == REF:
                kinds[index] = plane.stat_names.get(value, "")
            elif id_ == count_id:
                counts[index] = value
    for index, text in texts(events, {CALL: kind_id})[CALL].items():
        kinds[index] = text
    starts, durations = (begin + events.offsets).tolist(), events.durations.tolist()
    return [
        Call(
            name=plane.names.get(id_, ""),
            thread=thread,
            start=start,
            end=start + duration,
            traced=kind.startswith("traced"),
            traces=counts.get(index),
        )
        for index, (id_, start, duration, kind) in enumerate(
            zip(events.ids.tolist(), starts, durations, kinds, strict=True)
        )
    ]


def tracing(calls: Iterable[Call]) -> Spans:
    """The time of calls that traced; on a TPU most of it is the new program's compilation."""
    traced = [(call.start, call.end) for call in calls if call.traced]
    starts, ends = np.array(traced, np.int64).reshape((-1, 2)).T
    return union(starts, ends)


def outermost(calls: Iterable[Call]) -> list[Call]:
    """The calls not made inside another on the same thread; sorted by start."""
    until: dict[str, int] = {}
    kept: list[Call] = []
    for call in calls:
        # By thread: a call on another thread has no caller here.
        if call.start >= until.get(call.thread, -(1 << 62)):
            kept.append(call)
            until[call.thread] = call.end
    return kept


def functions(all_calls: Iterable[Call]) -> tuple[TracedFunction, ...]:
    """The functions that were called, with the calls that traced; most called first.

    A capture does not hold how the signature differed, nor where the function was defined. A
    function's very first call traces, too, but is no retrace: the tracing count shows which it was.
    """
    by_name: defaultdict[str, list[Call]] = defaultdict(list)
    for call in outermost(all_calls):
        by_name[call.name].append(call)
    made = (_function(name, called) for name, called in by_name.items())
    return tuple(sorted(made, key=lambda function: -function.calls))


def _function(name: str, called: list[Call]) -> TracedFunction:
    traced = [(number, call) for number, call in enumerate(called) if call.traced]
    again = [
        Retrace(number, (call.end - call.start) / PS_PER_MS, (), None)
        for number, call in traced
        # A call without the count is taken for a later one: most captures begin after the first.
        if (call.traces or 2) > 1
    ]
    return TracedFunction(
        name=name,
        location=None,
        calls=len(called),
        traces=len(traced),
        retraces=tuple(again),
        trains=any(word in name.lower() for word in TRAINING),
    )
