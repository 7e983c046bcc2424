"""What is normal for a job: the median of its step time over the last hour, and its spread."""

from __future__ import annotations

from collections import deque
from statistics import median

BLOCK_POINTS, BLOCK_S, BLOCK_LEAST = 60, 300.0, 12
"""A block is so many points, or what came in so long, but never fewer than the least."""
BLOCKS = 60
BLOCKS_NEEDED = 4
# The first minutes are faster or slower than the rest: buffers are full, caches cold, functions are
# traced.
WARM_UP_BLOCKS = 2
FIRST_POINTS = 60
# For normal noise the median distance from the median is sigma / 1.4826; unlike a standard
# deviation it does not see a few wild points.
TO_SIGMA = 1.4826
# Synthetic loops have no noise at all: without a floor any change of 0.1 % would be a drop.
LEAST_SIGMA = 0.005


class Baseline:
    """Learns from points, which are logarithms of the time a step takes.

    `level` is None until warm-up and four blocks are over: about six minutes of steps of a
    second, 30 minutes of steps of half a minute.
    """

    def __init__(self) -> None:
        self.level: float | None = None
        self.sigma = LEAST_SIGMA
        self.wander = 0.0
        """How far the medians of blocks lie from the level."""
        self.early: float | None = None
        """The fastest block after the first points, before there is a level."""
        self._points = 0
        self._block: list[float] = []
        self._block_s = 0.0
        self._skip = WARM_UP_BLOCKS
        self._medians: deque[float] = deque(maxlen=BLOCKS)
        self._sigmas: deque[float] = deque(maxlen=BLOCKS)

    @property
    def warm(self) -> bool:
        """Whether the warm-up is over."""
        return not self._skip

    def learn(self, point: float, after_s: float) -> None:
        """One more point of normal running, so long after the one before."""
        self._block.append(point)
        self._block_s += after_s
        count = len(self._block)
        if count < BLOCK_LEAST or (count < BLOCK_POINTS and self._block_s < BLOCK_S):
            return
        middle = median(self._block)
        if self._points >= FIRST_POINTS:  # not from buffers that were full
            self.early = middle if self.early is None else min(self.early, middle)
        self._points += count
        if self._skip:
            self._skip -= 1
        else:
            self._medians.append(middle)
            self._sigmas.append(TO_SIGMA * median(abs(p - middle) for p in self._block))
        self._block, self._block_s = [], 0.0
        if len(self._medians) >= BLOCKS_NEEDED:
            # A median of medians over an hour: it follows a job that slowly changes, and an
            # evaluation of ten minutes does not move it.
            level = self.level = median(self._medians)
            self.sigma = max(median(self._sigmas), LEAST_SIGMA)
            self.wander = TO_SIGMA * median(abs(m - level) for m in self._medians)
