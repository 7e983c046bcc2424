"""Whether two series of step figures, or the runs of two sides, differ by more than noise."""

import math
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tpudiag.records import dataclass

LEAST = 8
"""Fewer values on either side decide nothing."""
LEAST_RUNS = 2
"""Runs on either side from which they are tested instead of their steps."""
SIGNIFICANT = 0.01
RESAMPLES = 2000
TEST = (
    "moving-block bootstrap of the figure itself over its steps (2,000 resamples, fixed seed): a "
    "95 % confidence interval that excludes 0 and p below 0.01; of a median also a two-sided "
    "Mann-Whitney U test below 0.01 (normal approximation, ties corrected)"
)
RUNS_TEST = "Welch's t test over the logarithms of the runs' figures, p below 0.01"
Floats = NDArray[np.float64]
Statistic = Literal["median", "p90", "mean", "harmonic mean"]
"""What makes one figure of the values by step."""


@dataclass(frozen=True)
class Difference:
    """The change of a figure from one side to the other, relative to the first."""

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
    before: Sequence[float], after: Sequence[float], statistic: Statistic = "median"
) -> Difference | None:
    """How a figure of the series changed; None where they are too short or start from 0."""
    left, right = np.asarray(before, np.float64), np.asarray(after, np.float64)
    if min(len(left), len(right)) < LEAST or not _finite(left) or not _finite(right):
        return None
    base, now = (float(_figure(values[np.newaxis], statistic)[0]) for values in (left, right))
    if not base > 0:
        return None
    # A fixed seed: the same two profiles get the same verdict each time, in CI above all.
    random = np.random.default_rng(0)
    befores, afters = (_figure(_resampled(v, random), statistic) for v in (left, right))
    whole = befores > 0
    changes = afters[whole] / befores[whole] - 1
    low, high = np.percentile(changes, (2.5, 97.5)).tolist()
    # Of a discrete sum neither side is ever certain: one resample more than were seen.
    sides = [(int((changes <= 0).sum()) + 1), (int((changes >= 0).sum()) + 1)]
    p_value = min(2 * min(sides) / (len(changes) + 1), 1.0)
    if statistic == "median":
        # Both must agree: a median of few values has only a few that it can take, and the resamples
        # are coarse.
        ranks = _scipy_stats().mannwhitneyu(left, right, method="asymptotic")
        p_value = max(p_value, float(ranks.pvalue))
    return Difference(now / base - 1, low, high, p_value)


def runs_difference(before: Sequence[float], after: Sequence[float]) -> Difference | None:
    """How the figures of several runs differ between two sides; None where they are too few."""
    if min(len(before), len(after)) < LEAST_RUNS or min(*before, *after) <= 0:
        return None
    # Logarithms: twice as slow and twice as fast are then as far from 0, as the noise of times is.
    left, right = np.log(before), np.log(after)
    change = float(right.mean() - left.mean())
    # All runs of a side alike to the bit: nothing is noise then.
    if not left.var() + right.var():
        return Difference(math.expm1(change), math.expm1(change), math.expm1(change), 0.0)
    # Welch's: the sides may vary unlike each other.
    with warnings.catch_warnings(action="ignore"):  # sides nearly alike to the bit
        test = _scipy_stats().ttest_ind(right, left, equal_var=False)
    low, high = map(math.expm1, test.confidence_interval(0.95))
    return Difference(math.expm1(change), low, high, float(test.pvalue))


def spread(values: Sequence[float]) -> float:
    """How much figures of runs of the same side differ: standard deviation over mean."""
    array = np.asarray(values, np.float64)
    mean = float(array.mean())
    return float(array.std(ddof=1)) / mean if len(array) > 1 and mean > 0 else 0.0


def within(values: Sequence[float], statistic: Statistic) -> float | None:
    """The spread of one run's figure expected from its steps; relative, None if few."""
    array = np.asarray(values, np.float64)
    if len(array) < LEAST or not _finite(array):
        return None
    figures = _figure(_resampled(array, np.random.default_rng(0)), statistic)
    mean = float(figures.mean())
    return float(figures.std()) / mean if mean > 0 else None


def _scipy_stats() -> Any:
    """Imported where sides are compared: it takes a second."""
    return import_module("scipy.stats")


def _figure(values: Floats, statistic: Statistic) -> Floats:
    """The figure of each row."""
    if statistic == "harmonic mean":
        # Of rates: examples over the whole time, to which a slow step adds more than a fast one.
        positive = np.where(values > 0, values, np.nan)
        harmonic: Floats = np.nan_to_num(values.shape[1] / np.sum(1 / positive, axis=1))
        return harmonic
    if statistic == "mean":
        mean: Floats = values.mean(axis=1)
        return mean
    figures: Floats = np.percentile(values, 90 if statistic == "p90" else 50, axis=1)
    return figures


def _resampled(values: Floats, random: np.random.Generator) -> Floats:
    """Resamples of blocks, one a row: steps near each other are alike."""
    count = len(values)
    # The cube root of the length, as is usual: blocks long enough for neighbours, and enough of
    # them.
    block = max(round(count ** (1 / 3)), 1)
    starts: NDArray[np.int64] = random.integers(
        0, count - block + 1, (RESAMPLES, -(-count // block))
    )
    blocks: NDArray[np.int64] = starts[:, :, np.newaxis] + np.arange(block, dtype=np.int64)
    return values[blocks.reshape((RESAMPLES, -1))[:, :count]]


def _finite(values: Floats) -> bool:
    return bool(np.isfinite(values).all())
