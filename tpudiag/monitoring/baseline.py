"""What is normal for a job: the median of its step time over the last hour, and its spread."""

from __future__ import annotations

import math
from collections import deque
from statistics import median

BLOCK_POINTS, BLOCK_S, BLOCK_LEAST = 60, 300.0, 12
"""A block is so many points, or what came in so long, but never fewer than the least."""
BLOCKS = 60
BLOCKS_NEEDED = 4
# The first minutes are faster or slower than the rest: buffers are full, caches cold, functions are
# traced.
WARM_UP_BLOCKS = 2
FIRST_STEPS = 60
"""Of no use for what the first minutes show: buffers are full."""
EARLY_POINTS = 20
"""Of a block in the first minutes, and before the first of them."""
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
        self._early: list[tuple[float, float]] = []
        """The fastest two blocks of the first minutes: how fast they are, and how uneven."""
        self._points = self._steps = 0
        self._first: list[float] = []
        self._block: list[float] = []
        self._block_s = 0.0
        self._skip = WARM_UP_BLOCKS
        self._medians: deque[float] = deque(maxlen=BLOCKS)
        self._sigmas: deque[float] = deque(maxlen=BLOCKS)

    @property
    def warm(self) -> bool:
        """Whether the warm-up is over."""
        return not self._skip

    @property
    def early(self) -> tuple[float, float] | None:
        """What the first minutes show, and by how much more than it a step must take to be slow."""
        if self.level is not None or len(self._early) < 2:
            return None
        (fastest, sigma), (next_, _) = self._early
        return fastest, max(sigma, 5 * (next_ - fastest))

    @property
    def waits_points(self) -> int:
        """How many points it still takes at the most, until there is a level."""
        blocks = self._skip + BLOCKS_NEEDED - len(self._medians)
        return max(blocks * BLOCK_POINTS - len(self._block), 0) if self.level is None else 0

    def learn(self, point: float, after_s: float, steps: int = 1) -> None:
        """One more point of normal running, of so many steps, so long after the one before."""
        self._learn_early(point, steps)
        self._block.append(point)
        self._block_s += after_s
        count = len(self._block)
        if count < BLOCK_LEAST or (count < BLOCK_POINTS and self._block_s < BLOCK_S):
            return
        middle = median(self._block)
        if self._skip:
            self._skip -= 1
        else:
            self._medians.append(middle)
            self._sigmas.append(TO_SIGMA * median(abs(p - middle) for p in self._block))
        self._block, self._block_s = [], 0.0
        self._settle()

    def know(self, took_s: float) -> None:
        """What a unit took in a minute of before: one block, of which the points are not known."""
        if took_s > 0:
            self._skip = 0
            self._medians.append(math.log(took_s))
            self._settle()

    def _settle(self) -> None:
        """The level, by the blocks of the last hour."""
        if len(self._medians) >= BLOCKS_NEEDED:
            # A median of medians over an hour: it follows a job that slowly changes, and an
            # evaluation of ten minutes does not move it.
            level = self.level = median(self._medians)
            self.sigma = max(median(self._sigmas or [LEAST_SIGMA]), LEAST_SIGMA)
            self.wander = TO_SIGMA * median(abs(m - level) for m in self._medians)

    def _learn_early(self, point: float, steps: int) -> None:
        """The fastest of small blocks, while there is no level."""
        self._points, self._steps = self._points + 1, self._steps + steps
        if self.level is not None or self._points <= EARLY_POINTS or self._steps <= FIRST_STEPS:
            return
        self._first.append(point)
        if len(self._first) == EARLY_POINTS:
            middle = median(self._first)
            sigma = TO_SIGMA * median(abs(one - middle) for one in self._first)
            self._early = sorted([*self._early, (middle, sigma)])[:2]
            self._first = []
