"""The first and the last step of a trace, which its start and its end may have cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tpudiag.sources.profile.intervals import Ints

LEAST = 4
"""Steps of which the inner ones say what a whole step is."""
SAME = 0.1
"""Whole steps run the same program: their numbers of operations differ by no more."""
SHORT = 0.5
"""Without operations, an edge below this share of the shortest inner step is taken for cut."""


class Steps(NamedTuple):
    """Steps of a device or of a host, sorted by start; times in ps."""

    numbers: Ints
    starts: Ints
    ends: Ints

    def chosen(self, which: slice) -> Steps:
        """Some of them."""
        return Steps(*(column[which] for column in self))


def complete(steps: Steps, op_starts: Ints) -> Steps:
    """The steps without a first or last one that the trace cut; `op_starts` are sorted (ps).

    A cut step is shorter than every whole one and holds fewer operations than they do. That is
    XProf's rule, too: its means are over complete steps.
    """
    count = len(steps.starts)
    if count < LEAST:
        return steps
    lengths = steps.ends - steps.starts
    shortest = int(lengths[1:-1].min())
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

    return steps.chosen(slice(1 if cut(0) else 0, count - 1 if cut(count - 1) else count))
