"""Whether two series of step figures, or the runs of two sides, differ by more than noise."""

import math
from collections.abc import Sequence
from typing import Literal

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
        p_value = max(p_value, mann_whitney(left, right))
    return Difference(now / base - 1, low, high, p_value)


def runs_difference(before: Sequence[float], after: Sequence[float]) -> Difference | None:
    """How the figures of several runs differ between two sides; None where they are too few."""
    if min(len(before), len(after)) < LEAST_RUNS or min(*before, *after) <= 0:
        return None
    # Logarithms: twice as slow and twice as fast are then as far from 0, as the noise of times is.
    left, right = np.log(before), np.log(after)
    parts = [float(side.var(ddof=1)) / len(side) for side in (left, right)]
    error = math.sqrt(sum(parts))
    change = float(right.mean() - left.mean())
    # All runs of a side alike to the bit: nothing is noise then.
    if not error:
        return Difference(math.expm1(change), math.expm1(change), math.expm1(change), 0.0)
    # Welch and Satterthwaite: the sides may vary unlike each other.
    squares = sum(p**2 / (len(s) - 1) for p, s in zip(parts, (left, right), strict=True))
    freedom = sum(parts) ** 2 / squares
    reach = _t_quantile(freedom) * error
    low, high = math.expm1(change - reach), math.expm1(change + reach)
    return Difference(math.expm1(change), low, high, t_test(change / error, freedom))


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


def mann_whitney(left: Floats, right: Floats) -> float:
    """The two-sided p-value that both are drawn from one distribution."""
    n, m = len(left), len(right)
    _, place, counts = np.unique(
        np.concatenate((left, right)), return_inverse=True, return_counts=True
    )
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[place]
    u = float(ranks[:n].sum()) - n * (n + 1) / 2
    ties = float((counts.astype(np.float64) ** 3 - counts).sum()) / ((n + m) * (n + m - 1))
    deviation = math.sqrt(max(n * m / 12 * (n + m + 1 - ties), 0.0))
    if not deviation:
        return 1.0
    # Half a rank: U is whole, the normal distribution is not.
    z = max(abs(u - n * m / 2) - 0.5, 0.0) / deviation
    return math.erfc(z / math.sqrt(2))


def t_test(t: float, freedom: float) -> float:
    """The two-sided p-value of Student's t, by integrating over the angle atan(t / sqrt(df))."""
    angles = np.linspace(0.0, math.pi / 2, 20_001)
    # With t = sqrt(df) tan(angle) the density is a power of a cosine over a finite range: no scipy
    # is needed for one figure.
    density = np.cos(angles) ** (freedom - 1)
    below = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2)))
    share = float(np.interp(math.atan(abs(t) / math.sqrt(freedom)), angles, below) / below[-1])
    return max(1 - share, 0.0)


def _t_quantile(freedom: float) -> float:
    """The t of which 95 % of the distribution lie within."""
    low, high = 0.0, 1e4
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_test(middle, freedom) > 0.05 else (low, middle)
    return high


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
    index = blocks.reshape((RESAMPLES, -1))[:, :count]
    return values[index]


def _finite(values: Floats) -> bool:
    return bool(np.isfinite(values).all())
