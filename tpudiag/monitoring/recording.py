"""What is known of a running job's throughput: windows of steps, pauses, and the run itself.

Times are ns since the epoch. A window's step times are a histogram of buckets 2 % wide, so
that windows add up and a percentile read off them is within 1 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

NS = 1_000_000_000
_WIDTH = math.log(1.02)

RunUnit = Literal["steps", "epochs"]
"""What a run counts: epochs where only their ends are known."""
BadLoss = Literal["NaN", "Inf"]
Histogram = tuple[tuple[int, int], ...]
"""(bucket, steps) in the order of the buckets."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """The steps of a second or more; `number` counts the windows of a run from 0.

    Windows follow each other without a gap: a pause lies within the window of the step after it.
    Only the last of a run may hold no step: what was left to do.
    """

    number: int
    start_ns: int
    end_ns: int
    steps: int
    step_ms: Histogram = ()
    wait_ms: float | None = None
    """Time spent waiting for input, None where it was not measured."""
    pause_ms: float = 0.0
    """Time in pauses that the job announced (evaluation, checkpoint)."""
    hbm_bytes: int | None = None
    examples: int | None = None
    compile_ms: float = 0.0
    """What steps in which a function was traced took beyond the usual; of the first step: all."""
    stalled_ms: float = 0.0
    """What single steps took beyond the usual, far longer than it, with nothing announced."""
    stalls: int = 0
    paused: int = 0
    """Pauses that ended in it."""
    evaluation_ms: float = 0.0
    """Of `pause_ms`, as the two that follow; what is left is of other kinds."""
    checkpoint_ms: float = 0.0
    restore_ms: float = 0.0
    saved_ns: int | None = None
    """The end of the last checkpoint in it."""
    loss: float | None = None
    """The last that the job said of it, and how often it said one."""
    losses: int = 0
    bad_loss: BadLoss | None = None

    @property
    def whole_s(self) -> float:
        """All of it, in s."""
        return (self.end_ns - self.start_ns) / NS

    @property
    def active_s(self) -> float:
        """The window without the announced pauses, in s."""
        return max(self.whole_s - self.pause_ms / 1e3, 1e-9)

    @property
    def steps_per_s(self) -> float:
        """Steps a second outside announced pauses."""
        return self.steps / self.active_s


@dataclass(frozen=True)
class Pause:
    """A time without steps that the job announced."""

    kind: str
    """In the job's own word, of which ledger.PAUSES knows some: no closed set of states."""
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Trace:
    """A function was traced (or traced again): its name, and how long that took."""

    function: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """A recorded run: who, since when, and the last that was heard of it."""

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
    """Steps that were counted and could not be kept."""
    ended_ns: int | None = None
    unit: RunUnit = "steps"
    hbm_limit_bytes: int | None = None
    failure: str | None = None
    """The exception that ended it, with the user's line; None where it completed, or still runs."""
    exit_code: int | None = None
    """With which its process left by itself; None where it did not, as far as is known."""
    monotonic_ns: int | None = None
    """What its machine's monotonic clock read at `started_ns`."""
    machine: str = ""
    """The boot of the machine and its process ids' namespace, empty where that is not known."""
    worker: str = ""
    """What its cluster calls it (`worker 3`), empty where it was told nothing."""
    loop: int = 0
    """Which of the process's loops it is, by the line that began it: the first is 0."""
    parameters: int | None = None
    """Trainable parameters, None where they are not known."""
    process_started_ns: int | None = None

    @property
    def last_ns(self) -> int:
        """The last that was heard of it."""
        return self.beat_ns if self.ended_ns is None else max(self.ended_ns, self.beat_ns)

    @property
    def alike(self) -> tuple[object, ...]:
        """Runs of which this is equal train the same job on the same target."""
        return (
            self.name,
            self.unit,
            self.global_batch,
            self.hbm_limit_bytes,
            self.loop,
            self.parameters,
        )


@dataclass(frozen=True)
class Recording:
    """A run and what was recorded of it; `source` is where it came from."""

    run: Run
    windows: tuple[Window, ...]
    pauses: tuple[Pause, ...]
    source: str
    traces: tuple[Trace, ...] = ()
    damaged: frozenset[str] = frozenset()
    """Rows that no recorder wrote, and that were left out."""
    earlier: tuple[Window, ...] = ()
    """What came before the windows, rolled up by hour and minute: without step times."""

    @property
    def steps(self) -> int:
        """Steps in the windows."""
        return sum(window.steps for window in self.windows)


def bucket(ms: float) -> int:
    """The bucket of a step time."""
    # Logarithmic: steps of a millisecond and of ten minutes keep the same relative error, in some
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
            # The middle of the bucket: log and round put it there, so the error is half its width,
            # 1 %.
            return math.exp(key * _WIDTH)
    return None


def said_rate(value: float) -> str:
    """A rate for a sentence, e.g. `10,073` or `0.05123`."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.4g}"


def covered(spans: Iterable[Pause]) -> dict[str, int]:
    """The time that pauses cover by kind, ns; of one within another, the inner counts."""
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


class Sink(Protocol):
    """Where windows are kept; may raise and block, in the background thread only."""

    def write(
        self,
        run: Run,
        windows: tuple[Window, ...],
        pauses: tuple[Pause, ...],
        traces: tuple[Trace, ...] = (),
    ) -> None:
        """Keep all or nothing; what was kept before is not kept twice."""
        ...

    def gone(self) -> bool:
        """Whether what was kept is there no more: somebody deleted it."""
        ...

    def close(self) -> None:
        """Let go of files."""
        ...
