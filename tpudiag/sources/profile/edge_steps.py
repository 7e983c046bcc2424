"""Steps that a trace holds in part: cut by its edges, or with their events lost."""

from typing import NamedTuple

import numpy as np

from tpudiag.sources.profile.intervals import EMPTY, Ints, Spans, covered, merged, union

LEAST = 4
"""Steps needed to learn from the inner ones what a whole step looks like."""
SAME = 0.1
"""Whole steps run the same program: their operation counts differ by at most this share."""
SHORT = 0.5
"""Without operations, an edge step below this share of the shortest inner one counts as cut."""


class Steps(NamedTuple):
    """Steps of a device or of a host, sorted by start; times in ps."""

    numbers: Ints
    starts: Ints
    ends: Ints


def complete(steps: Steps, op_starts: Ints) -> Steps:
    """The steps without a first or last one that the trace cut; `op_starts` are sorted (ps).

    A cut step is shorter and holds fewer operations than every whole one. XProf, too, averages over
    complete steps only.
    """
    count = len(steps.starts)
    if count < LEAST:
        return steps
    lengths = steps.ends - steps.starts
    shortest = int(lengths[1:-1].min())
    # Operations as well as length: a short step that ran all its operations is a fast one.
    counts = np.searchsorted(op_starts, steps.ends) - np.searchsorted(op_starts, steps.starts)
    inner = counts[1:-1]
    usual = int(np.median(inner))
    alike = usual > 0 and int(np.abs(inner - usual).max()) <= SAME * usual

    def cut(edge: int) -> bool:
        if int(lengths[edge]) >= shortest:
            return False
        if not alike:
            return int(lengths[edge]) < SHORT * shortest
        return int(counts[edge]) < (1 - SAME) * usual

    whole = slice(1 if cut(0) else 0, count - 1 if cut(count - 1) else count)
    return Steps(*(column[whole] for column in steps))


def lost(steps: Steps, busy: Spans) -> Spans:
    """The time in steps whose device events the trace lost; `busy` is what it holds.

    A step without any program beside steps with one was not traced: the buffer was full, or part of
    the line is gone. Its neighbour is known up to where its own programs end.
    """
    empty = covered(busy, steps.starts, steps.ends) == 0
    # No step has a program: the whole line is lost, which is reported elsewhere.
    if empty.all() or not empty.any():
        return EMPTY
    before = np.flatnonzero(~empty[:-1] & empty[1:])
    last = np.searchsorted(busy.starts, steps.ends[before]) - 1
    after = np.flatnonzero(empty[:-1] & ~empty[1:]) + 1
    first = np.searchsorted(busy.ends, steps.starts[after], side="right")
    return merged(
        union(steps.starts[empty], steps.ends[empty]),
        Spans(np.minimum(busy.ends[last], steps.ends[before]), steps.ends[before]),
        Spans(steps.starts[after], np.maximum(busy.starts[first], steps.starts[after])),
    )
