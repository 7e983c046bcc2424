"""The detectors that were compared: ours, and others over the same points and baseline."""

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from tpudiag.monitoring.baseline import Baseline
from tpudiag.monitoring.detector import DropDetector
from tpudiag.monitoring.recording import NS

WARM_UP = 120


class Detector(Protocol):
    """Takes points (logarithms of step times); whether an alarm is raised by this one."""

    def add(self, point: float, took_s: float) -> bool: ...


class Ours:
    """The package's own, as it is."""

    def __init__(self) -> None:
        self._detector, self._now, self._seen = DropDetector(), 0.0, 0

    def add(self, point: float, took_s: float) -> bool:
        del point
        self._now += took_s
        self._detector.add(int(self._now * NS), took_s, 1)
        new = len(self._detector.drops) > self._seen
        self._seen = len(self._detector.drops)
        return new


class RobustZ:
    """The median of the last points against the baseline, in robust standard deviations."""

    def __init__(self, count: int, sigmas: float, least: float) -> None:
        self._baseline, self._count = Baseline(), count
        self._sigmas, self._least = sigmas, least
        self._points: deque[float] = deque()
        self._sorted: list[float] = []

    def add(self, point: float, took_s: float) -> bool:
        self._points.append(point)
        insort(self._sorted, point)
        if len(self._points) > self._count:
            del self._sorted[bisect_left(self._sorted, self._points.popleft())]
        level, alarm = self._baseline.level, False
        if level is not None and len(self._points) == self._count:
            error = 1.25 * self._baseline.sigma / math.sqrt(self._count)
            above = self._sorted[self._count // 2] - level
            alarm = above > max(self._least, self._sigmas * error)
        self._baseline.learn(point, took_s)
        return alarm


class Cusum:
    """Winsorised sum of what lies above the baseline by more than an allowance."""

    def __init__(self, allowance: float, height: float, sigma_floor: float) -> None:
        self._baseline, self._sum = Baseline(), 0.0
        self._allowance, self._height, self._floor = allowance, height, sigma_floor

    def add(self, point: float, took_s: float) -> bool:
        level, alarm = self._baseline.level, False
        if level is not None:
            z = (point - level) / max(self._baseline.sigma, self._floor)
            self._sum = max(0.0, self._sum + min(max(z, -3.0), 3.0) - self._allowance)
            alarm = self._sum > self._height
            self._sum = 0.0 if alarm else self._sum
        self._baseline.learn(point, took_s)
        return alarm


class River:
    """A detector of the library river, on points without their tails; upward changes count."""

    def __init__(self, name: str, **options: Any) -> None:
        self._make: Any = partial(getattr(import_module("river.drift"), name), **options)
        self._detector, self._count, self._mean = self._make(), 0, 0.0

    def add(self, point: float, took_s: float) -> bool:
        del took_s
        self._count += 1
        if self._count <= WARM_UP:
            return False
        seen = self._count - WARM_UP
        clipped = min(max(point, self._mean - 1), self._mean + 1) if seen > 1 else point
        above = clipped > self._mean
        self._mean += (clipped - self._mean) / min(seen, 3_600)
        self._detector.update(clipped)
        alarm = bool(self._detector.drift_detected) and above
        if self._detector.drift_detected:
            self._detector = self._make()
        return alarm


METHODS: dict[str, list[tuple[str, Callable[[], Detector]]]] = {
    "ours: quantiles at three scales": [("as in the package", Ours)],
    "robust z-score": [
        (f"{count} points, {sigmas:g} sigma, {least:.0%}", partial(RobustZ, count, sigmas, least))
        for count in (20, 60)
        for sigmas in (5.0, 8.0)
        for least in (0.05, 0.10, 0.15)
    ],
    "CUSUM, winsorised": [
        (f"allowance {allowance:g}, height {height:g}", partial(Cusum, allowance, height, 0.04))
        for allowance in (1.0, 1.5, 2.0)
        for height in (20.0, 40.0, 80.0)
    ],
    "river Page-Hinkley": [
        (
            f"delta {delta:g}, threshold {threshold:g}",
            partial(River, "PageHinkley", delta=delta, threshold=threshold, mode="up"),
        )
        for delta in (0.02, 0.05, 0.1)
        for threshold in (5.0, 20.0, 50.0)
    ],
    "river ADWIN": [
        (f"delta {delta:g}", partial(River, "ADWIN", delta=delta)) for delta in (1e-3, 1e-8, 1e-20)
    ],
}
