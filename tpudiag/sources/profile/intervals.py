"""Sets of time as sorted, disjoint (start, end) pairs; any unit, as long as it is one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

Interval = tuple[int, int]
Intervals = tuple[Interval, ...]


def union(intervals: Iterable[Interval]) -> Intervals:
    """What at least one of them covers."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def clipped(intervals: Intervals, start: int, end: int) -> Intervals:
    """The part of a union that lies between start and end."""
    first = max(0, bisect_right(intervals, (start, start)) - 1)
    found: list[Interval] = []
    for a, b in intervals[first:]:
        if a >= end:
            break
        if b > start:
            found.append((max(a, start), min(b, end)))
    return tuple(found)


def common(left: Intervals, right: Intervals) -> Intervals:
    """What both unions cover."""
    found: list[Interval] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            found.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def total(intervals: Iterable[Interval]) -> int:
    """The length of disjoint intervals."""
    return sum(end - start for start, end in intervals)


def without(left: Intervals, right: Intervals) -> Intervals:
    """What the left union covers and the right one does not."""
    found: list[Interval] = []
    for start, end in left:
        position = start
        for a, b in clipped(right, start, end):
            if a > position:
                found.append((position, a))
            position = b
        if position < end:
            found.append((position, end))
    return tuple(found)


def self_times(intervals: Sequence[Interval]) -> Iterator[tuple[int, int]]:
    """Index and self time of each event of one line: its length without what is nested in it.

    An event that runs past the end of the one it starts in counts as nested up to that end.
    """
    order = sorted(range(len(intervals)), key=lambda i: (intervals[i][0], -intervals[i][1]))
    inside = [0] * len(intervals)
    open_: list[int] = []
    for index in order:
        start, end = intervals[index]
        while open_ and intervals[open_[-1]][1] <= start:
            open_.pop()
        if open_:
            inside[open_[-1]] += min(end, intervals[open_[-1]][1]) - start
        open_.append(index)
    return ((i, end - start - inside[i]) for i, (start, end) in enumerate(intervals))
