"""Sets of time spans as vectors of sorted, disjoint starts and ends, in any one unit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_NONE = np.empty(0, np.int64)


class Spans(NamedTuple):
    """Disjoint spans of time in order; made by `union`."""

    starts: Ints
    ends: Ints

    @property
    def total(self) -> int:
        """The sum of their lengths."""
        return int((self.ends - self.starts).sum())

    def __bool__(self) -> bool:
        return len(self.starts) > 0

    def __sub__(self, other: Spans) -> Spans:
        """What this set covers and the other one does not."""
        return _swept(self, other, 1)

    def __and__(self, other: Spans) -> Spans:
        """What both sets cover."""
        return _swept(self, other, 3)


EMPTY = Spans(_NONE, _NONE)


DENSE = 1 << 22
"""Numbers below this are distinguished by a table, others by sorting."""


def groups(numbers: Ints) -> tuple[Ints, Ints]:
    """The distinct numbers in order, and the place of each number among them."""
    if not len(numbers) or int(numbers.min()) < 0 or int(numbers.max()) >= DENSE:
        return np.unique(numbers, return_inverse=True)
    present = np.zeros(int(numbers.max()) + 1, np.bool_)
    present[numbers] = True
    distinct = np.flatnonzero(present)
    return distinct, (np.cumsum(present) - 1)[numbers]


def union(starts: Ints, ends: Ints) -> Spans:
    """What at least one of the spans covers; touching ones become one."""
    if not len(starts):
        return EMPTY
    if np.any(starts[1:] < starts[:-1]):
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
    # The furthest end so far: a new span begins where the next start lies beyond it.
    reach = np.maximum.accumulate(ends)
    new = np.flatnonzero(starts[1:] > reach[:-1]) + 1
    first = np.concatenate(([0], new))
    last = np.concatenate((new - 1, [len(starts) - 1]))
    return Spans(starts[first], reach[last])


def merged(*sets: Spans) -> Spans:
    """What any of several sets covers."""
    some = [spans for spans in sets if spans]
    if len(some) < 2:
        return some[0] if some else EMPTY
    return union(np.concatenate([s.starts for s in some]), np.concatenate([s.ends for s in some]))


def _swept(left: Spans, right: Spans, wanted: int) -> Spans:
    """Where the sets' states (1 for the left, 2 for the right) add up to `wanted`."""
    if not left or not right:
        return left if wanted == 1 else EMPTY
    points = np.concatenate((*left, *right))
    size, other = len(left.starts), len(right.starts)
    # A sweep over all edges: +1 and -1 where the left set begins and ends, +2 and -2 for the right,
    # so that the running sum shows which of them are open.
    change = np.repeat(np.array([1, -1, 2, -2]), [size, size, other, other])
    order = np.argsort(points, kind="stable")
    points, state = points[order], np.cumsum(change[order])
    is_wanted = (state[:-1] == wanted) & (points[1:] > points[:-1])
    return union(points[:-1][is_wanted], points[1:][is_wanted])


def shared_out(rest: Spans, causes: Iterable[tuple[str, Spans]]) -> tuple[dict[str, Spans], Spans]:
    """Each cause's part of a set, in their order, so that no moment counts twice; and the rest."""
    parts: dict[str, Spans] = {}
    for cause, spans in causes:
        parts[cause] = rest & spans
        rest -= parts[cause]
    return parts, rest


def covered(spans: Spans, starts: Ints, ends: Ints) -> Ints:
    """How much of each window from `starts` to `ends` the set covers."""
    if not spans:
        return np.zeros(len(starts), np.int64)
    # Covered time up to any moment is a lookup; a window's is the difference of two.
    sums = np.concatenate(([0], np.cumsum(spans.ends - spans.starts)))

    def until(times: Ints) -> Ints:
        at = np.searchsorted(spans.starts, times, side="right")
        over = np.where(at > 0, spans.ends[at - 1] - times, 0)
        return sums[at] - np.maximum(over, 0)

    return until(ends) - until(starts)


def self_times(starts: Ints, ends: Ints) -> Ints:
    """The time of each event in which it is the innermost that is open.

    An event that outlasts the one it starts in counts up to that one's end. Events without a
    length own nothing.
    """
    own = np.zeros(len(starts), np.int64)
    index = np.flatnonzero(ends > starts)
    begun = starts[index]
    tied = begun[1:] == begun[:-1]
    lengths = ends[index] - begun
    if np.any(begun[1:] < begun[:-1]) or np.any(tied & (lengths[1:] > lengths[:-1])):
        order = np.lexsort((-lengths, begun))
        index, begun = index[order], begun[order]
    ended = ends[index]
    # Modules and steps never nest, and need no tree.
    if np.all(begun[1:] >= ended[:-1]):
        own[index] = ended - begun
        return own
    # Rarely, rounding to nanoseconds lets an event outlast the one around it: clipped one by one.
    nested = _nested(begun, ended) or _nested(begun, _clipped(begun, ended))
    assert nested is not None
    pieces, owners = nested
    own[index] = np.rint(np.bincount(owners, pieces.astype(np.float64), len(index)))
    return own


def _nested(starts: Ints, ends: Ints) -> tuple[Ints, Ints] | None:
    """The lengths of the pieces of properly nested events, and the innermost event of each.

    Events are sorted by start, and cut at every begin and end; None where some overlap.
    """
    count = len(starts)
    # Of two that end together the inner one, opened later, closes first.
    closing = count - 1 - np.argsort(ends[::-1], kind="stable")
    closed = ends[closing]
    at_open = np.arange(count) + np.searchsorted(closed, starts, side="right")
    points = np.empty(2 * count, np.int64)
    who = np.empty(2 * count, np.int64)
    opens = np.zeros(2 * count, np.bool_)
    opens[at_open] = True
    points[at_open], who[at_open] = starts, np.arange(count)
    points[~opens], who[~opens] = closed, closing
    depth = np.cumsum(np.where(opens, 1, -1))
    if np.any(depth[~opens] + 1 != depth[at_open][closing]):
        return None
    # At each depth the last opened event is the innermost, until the next opens there.
    order = np.argsort(depth, kind="stable")
    place = np.maximum.accumulate(np.where(opens[order], np.arange(2 * count), 0))
    owners = np.empty(2 * count, np.int64)
    owners[order] = who[order][place]
    used = (points[1:] > points[:-1]) & (depth[:-1] > 0)
    return (points[1:] - points[:-1])[used], owners[:-1][used]


def _clipped(starts: Ints, ends: Ints) -> Ints:
    """The ends, clipped one by one to the end of the event that each starts in."""
    clipped = ends.copy()
    open_: list[int] = []
    for index, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        while open_ and open_[-1] <= start:
            open_.pop()
        if open_ and open_[-1] < end:
            clipped[index] = open_[-1]
        open_.append(int(clipped[index]))
    return clipped
