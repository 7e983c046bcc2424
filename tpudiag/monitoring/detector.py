"""Finds drops and stalls of throughput against the job's own baseline.

A drop is found where most of the last points are slower than normal, at one of three scales: few
points that are much slower, or many that are slightly slower. A quantile below the middle must
exceed the limit, so pauses, single slow steps and buffer refills do not count. The limits were
chosen by the figures of tests/benchmarks/bench_detector.py.
"""

import math
from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass, replace

from tpudiag.monitoring.baseline import Baseline
from tpudiag.monitoring.recording import NS, Window
from tpudiag.signals import ThroughputDrop

SCALES = ((12, 0.25, 0.25), (40, 0.12, 0.30), (120, 0.07, 0.40))
"""Points, how much slower (as a logarithm), and the quantile that must be that slow."""
SIGMAS, WANDERS = 3.0, 3.0
RECOVERED = 0.05
EARLY, EARLY_UNEVEN, QUIET = (40, 0.10, 0.30), (40, 0.18, 0.30), 0.02
"""The same while the baseline is being learned: for even first minutes, for uneven ones, and the
spread (as a logarithm of steps) that separates them."""
LEAST_S = 20.0
"""A shorter slowdown is no drop."""
REFERENCE = (40, 0.10, 0.35)
"""The same against a rate that was carried over, given or predicted."""
GIVEN_AFTER_POINTS = 60
DOUBTFUL = 0.35
"""From this spread on a baseline is doubtful: a drop below it would not be found."""
OWN = "the job's baseline"
FIRST_PAUSE_S = 600.0
"""The normal pause while the job's own are unknown: in its first four hours."""
KNOWN_AFTER_S = 14_400.0
LEAST_PAUSE_S = 40.0
ANNOUNCED_PAUSE_S = 1_200.0
PAUSE_STEPS = 20


@dataclass(frozen=True)
class Reference:
    """A normal rate, in units per second, known from outside the run."""

    per_s: float
    text: str
    """Its origin, for a sentence: `what --expect gives`."""
    given: bool = False
    """Whether the user set it; otherwise it needs a warm-up like the run it comes from."""
    wander: float = 0.0
    """The spread of throughput where it comes from, as a logarithm."""


class Recent:
    """The last points, in order of time and of size."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._points: deque[tuple[float, int]] = deque()
        self._sorted: list[float] = []

    def add(self, point: float, start_ns: int) -> None:
        """Add a point, with its start."""
        self._points.append((point, start_ns))
        # Sorted on insertion: a quantile is a lookup, at every step of a run of weeks.
        insort(self._sorted, point)
        if len(self._points) > self._count:
            del self._sorted[bisect_left(self._sorted, self._points.popleft()[0])]

    def quantile(self, share: float) -> float:
        """The point below which this share lies."""
        return self._sorted[int(share * len(self._sorted))]

    def __len__(self) -> int:
        return len(self._points)

    def first_beyond(self, limit: float) -> int:
        """When the first point beyond the limit began."""
        return next((at for point, at in self._points if point > limit), self._points[-1][1])


class DropDetector:
    """Takes points one by one; `drops` are those found so far, the last may still be open."""

    def __init__(self, reference: Reference | None = None) -> None:
        self.baseline = Baseline()
        self.reference = reference
        self.drops: list[ThroughputDrop] = []
        self._points = 0
        self._scales = [Recent(count) for count, _, _ in SCALES]
        self._now = Recent(30)
        self._last_ns = 0

    def add(self, end_ns: int, took_s: float, units: float, steps: int = 1) -> None:
        """Add `units` (examples or steps) that took `took_s` over `steps` steps, and ended then."""
        # Logarithms: a relative drop is the same difference at any speed, and the noise of step
        # times, which is skewed to the slow side, becomes nearly symmetric.
        point = math.log(max(took_s, 1e-9) / units)
        start_ns = end_ns - int(took_s * NS)
        for recent in (*self._scales, self._now):
            recent.add(point, start_ns)
        self._points += 1
        if self.open is None:
            self._look(end_ns)
        else:
            self._follow(-math.log(self.open.baseline_per_s), end_ns)
        if self.open is None:
            # Never learn during a drop: slow steps would become the new normal.
            self.baseline.learn(point, (end_ns - (self._last_ns or start_ns)) / NS, steps)
        self._last_ns = end_ns

    @property
    def open(self) -> ThroughputDrop | None:
        """The current drop, None where throughput is normal."""
        return self.drops[-1] if self.drops and self.drops[-1].ended_ns is None else None

    @property
    def per_s(self) -> float | None:
        """Current units per second: the median of the last points."""
        return math.exp(-self._now.quantile(0.5)) if len(self._now) else None

    @property
    def baseline_per_s(self) -> float | None:
        """Normal units per second, None while they are being learned."""
        if self.open is not None:
            return self.open.baseline_per_s
        level = self.baseline.level
        if level is None:
            return None if self.reference is None else self.reference.per_s
        return math.exp(-level)

    @property
    def doubt(self) -> str | None:
        """Why the baseline is unreliable, None where it is good."""
        unseen = WANDERS * self.baseline.wander
        if self.baseline.level is None or unseen <= DOUBTFUL:
            return None
        return (
            f"the job's baseline is doubtful: its minutes differ so much that a drop of less than "
            f"{1 - math.exp(-unseen):.0%} would not be found"
        )

    def _look(self, end_ns: int) -> None:
        """Check for the start of a drop, against the baseline or another reference."""
        level, early, reference = self.baseline.level, self.baseline.early, self.reference
        if level is not None:
            # Some jobs are uneven by nature (data of varying length, evaluation every minute): the
            # spread of their own blocks limits how small a drop can be detected.
            wander = WANDERS * self.baseline.wander
            for recent, scale in zip(self._scales, SCALES, strict=True):
                if self._slower(recent, scale, level, end_ns, wander=wander, against=OWN):
                    return
        elif early is not None:
            fastest, uneven = early
            minutes = "the job's first minutes"
            scale = EARLY if uneven < QUIET else EARLY_UNEVEN
            self._slower(self._scales[1], scale, fastest, end_ns, wander=uneven, against=minutes)
        if (
            reference is not None
            and self.open is None
            and (
                # The warm-up is over, or so much of it as a given one needs.
                self.baseline.warm or (reference.given and self._points >= GIVEN_AFTER_POINTS)
            )
        ):
            expected, wander = -math.log(reference.per_s), WANDERS * reference.wander
            recent, text = self._scales[1], reference.text
            self._slower(recent, REFERENCE, expected, end_ns, wander=wander, against=text)

    def _slower(
        self,
        recent: Recent,
        scale: tuple[int, float, float],
        level: float,
        end_ns: int,
        *,
        wander: float,
        against: str,
    ) -> bool:
        """Whether most of the last points are slower than a level: a drop begins."""
        count, least, share = scale
        # The standard error of a mean of `count` points.
        noise = SIGMAS * self.baseline.sigma / math.sqrt(count)
        limit = max(least, wander, noise)
        if len(recent) < count or recent.quantile(share) - level <= limit:
            return False
        # The drop began before it was proven: at the first point nearer to the new level than to
        # the old.
        since = recent.first_beyond(level + limit / 2)
        if (end_ns - since) / NS < LEAST_S:
            return False
        usual, per_s = math.exp(-level), math.exp(-recent.quantile(0.5))
        drop = ThroughputDrop(
            since_ns=since, found_ns=end_ns, baseline_per_s=usual, per_s=per_s, against=against
        )
        self.drops.append(drop)
        return True

    def _follow(self, level: float, end_ns: int) -> None:
        """Update the drop's depth, and end it where throughput recovered."""
        middle = self._scales[0].quantile(0.5)
        # Both the last few and the last thirty points: a fast minute within a slow hour ends no
        # drop.
        if max(middle, self._now.quantile(0.5)) - level < RECOVERED:
            self.drops[-1] = replace(self.drops[-1], ended_ns=end_ns)
            self._scales = [Recent(count) for count, _, _ in SCALES]
        # The depth is updated for an hour; a drop of days is not described by its worst minute.
        elif end_ns - self.drops[-1].found_ns < 3_600 * NS:
            per_s = math.exp(-self._scales[1].quantile(0.5))
            self.drops[-1] = replace(self.drops[-1], per_s=min(per_s, self.drops[-1].per_s))


class Pauses:
    """The longest normal pause between two steps of the job."""

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
        # A window of one step may be one long pause; with more steps its pauses are below two
        # seconds.
        silent_s = window.active_s if window.steps == 1 else min(window.active_s, 2.0)
        if silent_s > 3 * self.normal_s and self._known_s > whole_s:
            # The smaller of the two longest: an evaluation of ten minutes recurs, a survived hang
            # of an hour does not make the next one normal.
            self._beyond_s = sorted([*self._beyond_s, silent_s])[-2:]
            silent_s = self._beyond_s[0] if len(self._beyond_s) == 2 else 0.0
        self._longest_s = max(self._longest_s, silent_s if self._known_s > whole_s else 0.0)
        self._steps = [*self._steps, window.active_s / window.steps][-31:]

    @property
    def step_s(self) -> float:
        """The usual time of a step, 0 before there is one."""
        return sorted(self._steps)[len(self._steps) // 2] if self._steps else 0.0

    @property
    def normal_s(self) -> float:
        """How long a pause counts as normal; generous while little is known."""
        step_s = self.step_s
        # A third, here and below, since callers treat silence of three times this as a stall.
        first_s = FIRST_PAUSE_S / 3 if self._known_s < KNOWN_AFTER_S else LEAST_PAUSE_S
        return max(self._longest_s, PAUSE_STEPS * step_s / 3, first_s)

    @property
    def announced_s(self) -> float:
        """How long an announced pause counts as normal."""
        return max(self._announced_s, ANNOUNCED_PAUSE_S, self.normal_s)
