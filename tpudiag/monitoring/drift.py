"""Finds a gradual slowdown over hours, which the detector's baseline follows."""

import math
from collections import deque
from itertools import combinations
from statistics import median

from tpudiag.monitoring.recording import NS
from tpudiag.signals import ThroughputDrift

BLOCK_S, BLOCK_LEAST = 600.0, 12
"""A block covers so much time, but never fewer points than the least."""
FIRST_BLOCK_S, FIRST_BLOCKS, SKIPPED_POINTS = 120.0, 5, 20
"""The first ten minutes, without the first steps, have shorter blocks: a job that slows down from
the start was at its best then."""
HALF_HOUR = 3
LEAST_HOURS = 0.75
LIMIT = 0.24
"""As a logarithm: 21 % of throughput. Jobs vary by a tenth either way within a day."""
KEEP = 4_320
"""Blocks: a month of them."""
MOST_SLOPES = 60


class DriftDetector:
    """Takes points one by one, as the detector of drops does."""

    def __init__(self) -> None:
        self._block: list[float] = []
        self._block_s = 0.0
        self._blocks: deque[tuple[int, float]] = deque(maxlen=KEEP)
        self._seen = self._cut = 0
        self._best: tuple[float, int] | None = None
        self.hours = 0.0
        """For how long it was looked at, in hours."""

    def add(self, end_ns: int, took_s: float, units: float) -> None:
        """Add `units` that took `took_s`, and ended then."""
        self._seen += 1
        if self._seen <= SKIPPED_POINTS and took_s < BLOCK_S / BLOCK_LEAST:
            return
        self._block.append(math.log(max(took_s, 1e-9) / units))
        self._block_s += took_s
        # Roll-ups cover a minute or an hour each.
        least = BLOCK_LEAST if took_s < BLOCK_S / BLOCK_LEAST else 1
        block_s = FIRST_BLOCK_S if self._cut < FIRST_BLOCKS else BLOCK_S
        if len(self._block) < least or self._block_s < block_s:
            return
        self._cut += 1
        self._blocks.append((end_ns, median(self._block)))
        self.hours += self._block_s / 3_600
        self._learn()
        self._block, self._block_s = [], 0.0

    def _learn(self) -> None:
        """Update the best half hour so far."""
        if len(self._blocks) < HALF_HOUR:
            return
        last = [self._blocks[-1 - index] for index in range(HALF_HOUR)]
        # Of half an hour: the single fastest block would be luck, and make everything else look
        # slow.
        middle = median(point for _, point in last)
        if self._best is None or middle < self._best[0]:
            self._best = (middle, last[-1][0])

    @property
    def drift(self) -> ThroughputDrift | None:
        """The current drift, None where there is none."""
        if self._best is None or self.hours < LEAST_HOURS:
            return None
        best, since_ns = self._best
        now = median(self._blocks[-1 - index][1] for index in range(HALF_HOUR))
        if now - best <= LIMIT:
            return None
        # From the best on: before it the job became faster, which would flatten the slope.
        slope = _slope([block for block in self._blocks if block[0] >= since_ns])
        # Points are logarithms of times, so the slope is one of rates with its sign turned.
        lost = 100 * (1 - math.exp(-slope)) if slope > 0 else 0.0
        return ThroughputDrift(since_ns, math.exp(-best), math.exp(-now), lost)


def _slope(blocks: list[tuple[int, float]]) -> float:
    """The median slope between any two blocks (Theil and Sen), an hour."""
    # Pairs grow with the square: a month of blocks would give nine million.
    thinned = blocks[:: max(len(blocks) // MOST_SLOPES, 1)]
    slopes = [
        (after - before) / ((late - early) / NS / 3_600)
        for (early, before), (late, after) in combinations(thinned, 2)
        # A clock set back between two blocks would give a slope of the wrong sign.
        if late > early
    ]
    return median(slopes) if slopes else 0.0
