"""Traces of training jobs, generated from a seed: one step about a second, with what jobs do.

Noise of several kinds, a warm-up, checkpoints and evaluations that nothing announces, slow
steps now and then, refills of the shuffle buffer, slow drift, and a drop where one is asked for.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DAY = 86_400


@dataclass(frozen=True)
class Trace:
    """The time of each step in s, and the step from which it is slower."""

    took_s: Floats
    drop_at: int | None
    kind: str

    @property
    def ends_s(self) -> Floats:
        """When each step ended."""
        ends: Floats = np.cumsum(self.took_s)
        return ends


KINDS = ("normal", "lognormal", "quiet", "noisy", "heavy tail", "correlated", "periodic", "drift")
NOISE = {"quiet": 0.02, "noisy": 0.10}


def trace(seed: int, steps: int, drop: float = 0.0, kind: str | None = None) -> Trace:
    """A job of so many steps; `drop` is the share of throughput lost from a random step on."""
    random = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)] if kind is None else kind
    took = np.exp(_noise(random, steps, kind))
    took *= _drift(random, steps, kind)
    _warm_up(random, took)
    _refills(random, took)
    drop_at = None
    if drop:
        drop_at = int(random.integers(steps // 3, steps // 2))
        took[drop_at:] /= 1 - drop
    _pauses(random, took)
    return Trace(took, drop_at, kind)


def _noise(random: np.random.Generator, steps: int, kind: str) -> Floats:
    """The noise of a step's time, as a logarithm."""
    sigma = NOISE.get(kind, 0.05)
    noise: Floats = random.normal(0, sigma, steps)
    if kind == "normal":
        noise = np.log(np.maximum(1 + noise, 0.5))
    elif kind == "heavy tail":
        slow = random.random(steps) < 0.02
        noise[slow] += random.exponential(0.7, int(slow.sum()))
    elif kind == "correlated":
        slow_part = np.empty(steps)
        shocks = random.normal(0, sigma * np.sqrt(1 - 0.9**2), steps)
        value = 0.0
        for index, shock in enumerate(shocks.tolist()):
            value = 0.9 * value + shock
            slow_part[index] = value
        noise = slow_part + noise * 0.3
    elif kind == "periodic":
        noise[:: int(random.integers(20, 200))] += float(random.uniform(0.2, 1.0))
    return noise


def _drift(random: np.random.Generator, steps: int, kind: str) -> Floats:
    """Slow change over hours: a tenth either way within half a day to a day; little elsewhere."""
    size = float(random.uniform(0.05, 0.10)) if kind == "drift" else float(random.uniform(0, 0.02))
    period, phase = float(random.uniform(0.5, 1.0)) * DAY, float(random.uniform(0, 6.28))
    drift: Floats = np.exp(size * np.sin(2 * np.pi * np.arange(steps) / period + phase))
    return drift


def _warm_up(random: np.random.Generator, took: Floats) -> None:
    """The first step compiles; the next are slow for a while, or fast from full buffers."""
    took[0] += float(random.uniform(20, 300))
    length = int(random.integers(5, 60))
    if random.random() < 0.5:
        took[1 : 1 + 3 * length] *= 1 + float(random.uniform(0.2, 2)) * np.exp(
            -np.arange(3 * length) / length
        )
    else:
        took[1 : 1 + length] *= float(random.uniform(0.5, 0.9))


def _refills(random: np.random.Generator, took: Floats) -> None:
    """At the start of an epoch a few steps wait for the shuffle buffer."""
    epoch = int(random.integers(1800, 7200))
    for start in range(epoch, len(took), epoch):
        took[start : start + int(random.integers(2, 7))] *= float(random.uniform(1.2, 2.5))


def _pauses(random: np.random.Generator, took: Floats) -> None:
    """Checkpoints every 10 to 60 minutes, evaluations every half to two hours."""
    for every, low, high in (((600, 3600), 3, 60), ((1800, 7200), 20, 600)):
        period, typical = int(random.integers(*every)), float(random.uniform(low, high))
        places = np.arange(period, len(took), period)
        took[places] += typical * random.lognormal(0, 0.2, len(places))
