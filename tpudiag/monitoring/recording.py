"""The model of a running job's throughput: windows of steps, pauses, and the run itself.

Times are ns since the epoch. A window's step times are a histogram of buckets 2 % wide, so
that windows add up and a percentile read off them is within 1 %.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

NS = 1_000_000_000
_WIDTH = math.log(1.02)

RunUnit = Literal["steps", "epochs"]
"""The unit that a run counts: epochs where only their ends are known."""
BadLoss = Literal["NaN", "Inf"]
Histogram = tuple[tuple[int, int], ...]
"""(bucket, steps) in the order of the buckets."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """The steps of a second or more; `number` counts the windows of a run from 0.

    Windows follow each other without gaps: a pause lies in the window of the step after it. Only
    the last of a run may hold no step.
    """

    number: int
    start_ns: int
    end_ns: int
    steps: int
    step_ms: Histogram = ()
    wait_ms: float | None = None
    """Time spent waiting for input; None where not measured."""
    pause_ms: float = 0.0
    """Time in pauses that the job announced (evaluation, checkpoint)."""
    hbm_bytes: int | None = None
    examples: int | None = None
    compile_ms: float = 0.0
    """Excess time of steps that traced a function; the first step counts in full."""
    stalled_ms: float = 0.0
    """Excess time of single steps far longer than usual, without an announced pause."""
    stalls: int = 0
    paused: int = 0
    """Pauses that ended in it."""
    evaluation_ms: float = 0.0
    """Part of `pause_ms`, as the two that follow; the rest is of other kinds."""
    checkpoint_ms: float = 0.0
    restore_ms: float = 0.0
    saved_ns: int | None = None
    """The end of the last checkpoint in it."""
    loss: float | None = None
    """The last one reported, and the number of reports."""
    losses: int = 0
    bad_loss: BadLoss | None = None

    @property
    def whole_s(self) -> float:
        """The whole window, in s."""
        return (self.end_ns - self.start_ns) / NS

    @property
    def active_s(self) -> float:
        """The window without the announced pauses, in s."""
        return max(self.whole_s - self.pause_ms / 1e3, 1e-9)


@dataclass(frozen=True)
class Pause:
    """A time without steps that the job announced."""

    kind: str
    """In the job's own word, of which ledger.PAUSES knows some: no closed set."""
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Trace:
    """A function was traced (or retraced): its name, and the duration."""

    function: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """A recorded run: its identity, its start, and its last news."""

    id: str
    name: str
    host: str
    pid: int
    started_ns: int
    beat_ns: int
    """When its recorder last wrote."""
    global_batch: int | None = None
    pausing: str | None = None
    """The kind of the announced pause it was in."""
    lost_steps: int = 0
    """Steps that were counted but not kept."""
    ended_ns: int | None = None
    unit: RunUnit = "steps"
    hbm_limit_bytes: int | None = None
    failure: str | None = None
    """The exception that ended it, with the user's line; None where it completed or still runs."""
    monotonic_ns: int | None = None
    """Its machine's monotonic clock at `started_ns`."""
    machine: str = ""
    """The machine's boot and its process ids' namespace, empty where unknown."""
    worker: str = ""
    """Its cluster's name for it (`worker 3`), empty where there is none."""
    loop: int = 0
    """The index of its loop in the process, by the line that began it: the first is 0."""
    parameters: int | None = None
    """Trainable parameters; None where unknown."""
    process_started_ns: int | None = None
    exit_code: int | None = None
    """Its process's own exit code; None where unknown."""

    @property
    def last_ns(self) -> int:
        """The time of its last news."""
        return self.beat_ns if self.ended_ns is None else max(self.ended_ns, self.beat_ns)

    @property
    def alike(self) -> tuple[object, ...]:
        """Equal for runs that train the same job on the same target."""
        return (
            self.name, self.unit, self.global_batch, self.hbm_limit_bytes, self.loop,
            self.parameters,
        )  # fmt: skip


@dataclass(frozen=True)
class Recording:
    """A run and its recorded windows; `source` is where it came from."""

    run: Run
    windows: tuple[Window, ...]
    source: str
    traces: tuple[Trace, ...] = ()
    damaged: frozenset[str] = frozenset()
    """Rows that no recorder wrote; they were skipped."""
    earlier: tuple[Window, ...] = ()
    """The time before the windows, rolled up by hour and minute: without step times."""

    @property
    def steps(self) -> int:
        """Steps in the windows."""
        return sum(window.steps for window in self.windows)


def bucket(ms: float) -> int:
    """The bucket of a step time."""
    # Logarithmic: steps of a millisecond and of ten minutes have the same relative error, in some
    # hundreds of buckets at most.
    return round(math.log(max(ms, 1e-6)) / _WIDTH)


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """The histogram of all steps together."""
    counts: dict[int, int] = {}
    for histogram in histograms:
        for key, steps in histogram:
            counts[key] = counts.get(key, 0) + steps
    return in_order(counts)


def in_order(counts: Mapping[int, int]) -> Histogram:
    """Counts by bucket as a histogram."""
    return tuple(sorted(counts.items()))


def percentile(histogram: Histogram, share: float) -> float | None:
    """The step time in ms that this share of the steps does not exceed; None without steps."""
    total = sum(steps for _, steps in histogram)
    seen = 0
    for key, steps in histogram:
        seen += steps
        if seen >= share * total:
            # The middle of the bucket, by log and round: the error is half its width, 1 %.
            return math.exp(key * _WIDTH)
    return None


def covered(spans: Iterable[Pause]) -> dict[str, int]:
    """The time covered by pauses, by kind, ns; a nested pause counts as its own kind."""
    taken: list[tuple[int, int]] = []
    by_kind: dict[str, int] = {}
    for pause in sorted(spans, key=lambda one: (one.end_ns, -one.start_ns)):
        within = [one for one in taken if one[1] > pause.start_ns]
        inner = sum(min(end, pause.end_ns) - max(start, pause.start_ns) for start, end in within)
        own = max(pause.end_ns - pause.start_ns - inner, 0)
        by_kind[pause.kind] = by_kind.get(pause.kind, 0) + own
        first = min([pause.start_ns, *(one[0] for one in within)])
        taken = [*(one for one in taken if one not in within), (first, pause.end_ns)]
    return by_kind
