"""Whether two series of step figures differ by more than noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST = 8
"""Fewer values on either side decide nothing."""
SIGNIFICANT = 0.01
RESAMPLES = 2000
TEST = (
    "two-sided Mann-Whitney U test (normal approximation, ties corrected) below 0.01, and a 95 % "
    "confidence interval of the change that excludes 0 (moving-block bootstrap, 2,000 resamples, "
    "fixed seed)"
)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """The change of a percentile from one series to another, relative to the first."""

    change: float
    low: float
    high: float
    """The 95 % confidence interval."""
    p_value: float

    @property
    def significant(self) -> bool:
        """Whether it is more than noise."""
        return self.p_value < SIGNIFICANT and not self.low <= 0 <= self.high


def difference(
    before: Sequence[float], after: Sequence[float], percent: int = 50
) -> Difference | None:
    """How a percentile of the series changed; None where they are too short or start from 0."""
    left, right = np.asarray(before, np.float64), np.asarray(after, np.float64)
    if min(len(left), len(right)) < LEAST or not _finite(left) or not _finite(right):
        return None
    base = float(np.percentile(left, percent))
    if base <= 0:
        return None
    random = np.random.default_rng(0)
    befores, afters = (_resampled(v, percent, random) for v in (left, right))
    whole = befores > 0
    changes = afters[whole] / befores[whole] - 1
    low, high = np.percentile(changes, (2.5, 97.5)).tolist()
    change = float(np.percentile(right, percent)) / base - 1
    return Difference(change, low, high, mann_whitney(left, right))


def mann_whitney(left: Floats, right: Floats) -> float:
    """The two-sided p-value that both are drawn from one distribution."""
    n, m = len(left), len(right)
    values, place, counts = np.unique(
        np.concatenate((left, right)), return_inverse=True, return_counts=True
    )
    del values
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[place]
    u = float(ranks[:n].sum()) - n * (n + 1) / 2
    ties = float((counts.astype(np.float64) ** 3 - counts).sum()) / ((n + m) * (n + m - 1))
    spread = math.sqrt(max(n * m / 12 * (n + m + 1 - ties), 0.0))
    if not spread:
        return 1.0
    z = max(abs(u - n * m / 2) - 0.5, 0.0) / spread
    return math.erfc(z / math.sqrt(2))


def _resampled(values: Floats, percent: int, random: np.random.Generator) -> Floats:
    """The percentile in resamples of blocks: steps near each other are alike."""
    count = len(values)
    block = max(round(count ** (1 / 3)), 1)
    starts: NDArray[np.int64] = random.integers(
        0, count - block + 1, (RESAMPLES, -(-count // block))
    )
    blocks: NDArray[np.int64] = starts[:, :, np.newaxis] + np.arange(block, dtype=np.int64)
    index = blocks.reshape((RESAMPLES, -1))[:, :count]
    found: Floats = np.percentile(values[index], percent, axis=1)
    return found


def _finite(values: Floats) -> bool:
    """Whether every value is a number."""
    return bool(np.isfinite(values).all())
