"""A job's normal step time: the median over the last hour, and its spread."""

import math
from collections import deque
from statistics import median

BLOCK_POINTS, BLOCK_S, BLOCK_LEAST = 60, 300.0, 12
"""A block ends after so many points or so much time, but never with fewer than the least."""
BLOCKS = 60
BLOCKS_NEEDED = 4
# The first minutes are not typical: buffers are full, caches cold, functions are traced.
WARM_UP_BLOCKS = 2
FIRST_STEPS = 60
"""Steps ignored in the first minutes' estimate: buffers are still full."""
EARLY_POINTS = 20
"""Points of a block in the first minutes, and points skipped before the first of them."""
# For normal noise the median distance from the median is sigma / 1.4826; unlike a standard
# deviation it ignores outliers.
TO_SIGMA = 1.4826
# Synthetic loops have no noise at all: without a floor any change of 0.1 % would be a drop.
LEAST_SIGMA = 0.005


class Baseline:
    """Learns the normal level from points, which are logarithms of the time per step.

    `level` is None until warm-up and four blocks are over: about six minutes of steps of a
    second, 30 minutes of steps of half a minute.
    """

    def __init__(self) -> None:
        self.level: float | None = None
        self.sigma = LEAST_SIGMA
        self.wander = 0.0
        """How far the blocks' medians spread around the level."""
        self._early: list[tuple[float, float]] = []
        """The two fastest blocks of the first minutes: their level and spread."""
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
        """The level of the first minutes, and the excess that makes a step slow."""
        if self.level is not None or len(self._early) < 2:
            return None
        (fastest, sigma), (next_, _) = self._early
        return fastest, max(sigma, 5 * (next_ - fastest))

    @property
    def waits_points(self) -> int:
        """At most how many points are missing until there is a level."""
        blocks = self._skip + BLOCKS_NEEDED - len(self._medians)
        return max(blocks * BLOCK_POINTS - len(self._block), 0) if self.level is None else 0

    def learn(self, point: float, after_s: float, steps: int = 1) -> None:
        """Add a point of normal running, over `steps` steps, `after_s` after the previous one."""
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
        """Add a minute of an earlier recording: one block without its single points."""
        if took_s > 0:
            self._skip = 0
            self._medians.append(math.log(took_s))
            self._settle()

    def _settle(self) -> None:
        """Set the level from the blocks of the last hour."""
        if len(self._medians) >= BLOCKS_NEEDED:
            # A median of medians over an hour follows a job that changes slowly, and an evaluation
            # of ten minutes does not move it.
            level = self.level = median(self._medians)
            self.sigma = max(median(self._sigmas or [LEAST_SIGMA]), LEAST_SIGMA)
            self.wander = TO_SIGMA * median(abs(m - level) for m in self._medians)

    def _learn_early(self, point: float, steps: int) -> None:
        """Keep the fastest of small blocks while there is no level."""
        self._points, self._steps = self._points + 1, self._steps + steps
        if self.level is not None or self._points <= EARLY_POINTS or self._steps <= FIRST_STEPS:
            return
        self._first.append(point)
        if len(self._first) == EARLY_POINTS:
            middle = median(self._first)
            sigma = TO_SIGMA * median(abs(one - middle) for one in self._first)
            self._early = sorted([*self._early, (middle, sigma)])[:2]
            self._first = []
