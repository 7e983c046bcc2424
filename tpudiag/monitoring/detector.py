"""Finds drops and stalls of throughput against the job's own baseline.

A drop is found where most of the last points are slower than normal, at one of three scales:
few points that are much slower, or many that are a little. A quantile below the middle must
lie beyond the limit, so pauses, slow steps now and then and refills of buffers do not count.
Chosen by numbers against others: tests/benchmarks/bench_detector.py prints them.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass, replace

from tpudiag.monitoring.baseline import Baseline
from tpudiag.monitoring.recording import NS, Window

SCALES = ((12, 0.25, 0.25), (40, 0.12, 0.30), (120, 0.07, 0.40))
"""Points, how much slower (as a logarithm), and the quantile that must be so."""
SIGMAS, WANDERS = 3.0, 3.0
RECOVERED = 0.05
FIRST_PAUSE_S = 600.0
"""What a pause may take while the job's own pauses are not known: in its first four hours."""
KNOWN_AFTER_S = 14_400.0
LEAST_PAUSE_S = 40.0
ANNOUNCED_PAUSE_S = 1_200.0
PAUSE_STEPS = 20


@dataclass(frozen=True)
class Drop:
    """Throughput below the baseline since about `since_ns`; `ended_ns` is None while it lasts."""

    since_ns: int
    found_ns: int
    baseline_per_s: float
    per_s: float
    ended_ns: int | None = None

    @property
    def share(self) -> float:
        """The share of throughput that is lost, 0 to 1."""
        return 1 - self.per_s / self.baseline_per_s


class Recent:
    """The last points, in order of time and of size."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._points: deque[tuple[float, int]] = deque()
        self._sorted: list[float] = []

    def add(self, point: float, start_ns: int) -> None:
        """One more point, and when it began."""
        self._points.append((point, start_ns))
        insort(self._sorted, point)
        if len(self._points) > self._count:
            del self._sorted[bisect_left(self._sorted, self._points.popleft()[0])]

    @property
    def full(self) -> bool:
        """Whether there are as many points as asked for."""
        return len(self._points) == self._count

    def quantile(self, share: float) -> float:
        """The point that this share lies below."""
        return self._sorted[int(share * len(self._sorted))]

    def __len__(self) -> int:
        return len(self._points)

    def first_beyond(self, limit: float) -> int:
        """When the first of the points beyond the limit began."""
        return next((at for point, at in self._points if point > limit), self._points[-1][1])


class DropDetector:
    """Takes points one by one; `drops` are those found so far, the last may still be open."""

    def __init__(self) -> None:
        self.baseline = Baseline()
        self.drops: list[Drop] = []
        self._scales = [Recent(count) for count, _, _ in SCALES]
        self._now = Recent(30)
        self._last_ns = 0

    def add(self, end_ns: int, took_s: float, units: float) -> None:
        """So many units (examples, or steps) took so long, and ended then."""
        point = math.log(max(took_s, 1e-9) / units)
        start_ns = end_ns - int(took_s * NS)
        for recent in (*self._scales, self._now):
            recent.add(point, start_ns)
        level = self.baseline.level
        if level is not None:
            if self.open is None:
                self._look(level, end_ns)
            else:
                self._follow(level, end_ns)
        if self.open is None:
            self.baseline.learn(point, (end_ns - (self._last_ns or start_ns)) / NS)
        self._last_ns = end_ns

    @property
    def open(self) -> Drop | None:
        """The drop that lasts, None where throughput is normal."""
        return self.drops[-1] if self.drops and self.drops[-1].ended_ns is None else None

    @property
    def per_s(self) -> float | None:
        """Units a second at present: the median of the last points."""
        return math.exp(-self._now.quantile(0.5)) if len(self._now) else None

    @property
    def baseline_per_s(self) -> float | None:
        """Units a second that are normal, None while that is being learned."""
        level = self.baseline.level
        return None if level is None else math.exp(-level)

    def _look(self, level: float, end_ns: int) -> None:
        """Whether a drop has begun."""
        for recent, (count, least, share) in zip(self._scales, SCALES, strict=True):
            noise = SIGMAS * self.baseline.sigma / math.sqrt(count)
            limit = max(least, WANDERS * self.baseline.wander, noise)
            if recent.full and recent.quantile(share) - level > limit:
                since = recent.first_beyond(level + limit / 2)
                per_s = math.exp(-recent.quantile(0.5))
                self.drops.append(Drop(since, end_ns, math.exp(-level), per_s))
                return

    def _follow(self, level: float, end_ns: int) -> None:
        """How deep the drop is now, and whether it is over."""
        middle = self._scales[0].quantile(0.5)
        if max(middle, self._now.quantile(0.5)) - level < RECOVERED:
            self.drops[-1] = replace(self.drops[-1], ended_ns=end_ns)
            self._scales = [Recent(count) for count, _, _ in SCALES]
        elif end_ns - self.drops[-1].found_ns < 3_600 * NS:
            per_s = math.exp(-self._scales[1].quantile(0.5))
            deeper = min(per_s, self.drops[-1].per_s)
            self.drops[-1] = replace(self.drops[-1], per_s=deeper)


class Pauses:
    """The longest pause between two steps that is normal for the job."""

    def __init__(self) -> None:
        self._longest_s = 0.0
        self._announced_s = 0.0
        self._beyond_s: list[float] = []
        self._steps: list[float] = []
        self._known_s = 0.0

    def add(self, window: Window) -> None:
        """Learn from a window; a single pause beyond the limit is not normal, two are."""
        whole_s = (window.end_ns - window.start_ns) / NS
        self._known_s += whole_s
        self._announced_s = max(self._announced_s, window.pause_ms / 1e3)
        silent_s = window.active_s if window.steps == 1 else min(window.active_s, 2.0)
        if silent_s > 3 * self.normal_s and self._known_s > whole_s:
            self._beyond_s = sorted([*self._beyond_s, silent_s])[-2:]
            silent_s = self._beyond_s[0] if len(self._beyond_s) == 2 else 0.0
        self._longest_s = max(self._longest_s, silent_s if self._known_s > whole_s else 0.0)
        self._steps = [*self._steps, window.active_s / window.steps][-31:]

    @property
    def normal_s(self) -> float:
        """How long a pause may be and count as normal; generous while little is known."""
        step_s = sorted(self._steps)[len(self._steps) // 2] if self._steps else 0.0
        first_s = FIRST_PAUSE_S / 3 if self._known_s < KNOWN_AFTER_S else LEAST_PAUSE_S
        return max(self._longest_s, PAUSE_STEPS * step_s / 3, first_s)

    @property
    def announced_s(self) -> float:
        """How long an announced pause may be and count as normal."""
        return max(self._announced_s, ANNOUNCED_PAUSE_S, self.normal_s)
