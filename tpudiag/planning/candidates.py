"""The compiler's answers by target and per-replica batch: the largest that fits, and the best."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tpudiag.compiled import Compilation
from tpudiag.hardware import Target
from tpudiag.prediction.times import Range

STEP = 8
"""Batches are multiples of this, the sublanes of a tile."""
HEADROOM = 0.10
"""The least free share of HBM for the chosen batch."""
RECOMPUTES = 0.05
"""More additional FLOPs per example than this count as recomputation."""
WORTH = 1.02
"""A larger batch must be faster by this factor to be chosen."""
BISECTIONS = 4


@dataclass(frozen=True, kw_only=True)
class Row:
    """One batch on one target; `answer` is None where a smaller batch did not fit already."""

    target: Target
    replicas: int
    """The number used by the job: the target's, or one without a strategy."""
    batch: int
    answer: Compilation | None
    more_flops: float | None = None
    """FLOPs per example above those of the smallest batch, 0.1 for 10 %; None where unknown."""
    more_time: float | None = None
    """The same for the device's predicted time."""
    price: float | None = None
    """Of a chip-hour, in the user's currency."""

    @property
    def fits(self) -> bool | None:
        """Whether it fits; None where the compiler gave no answer."""
        return False if self.answer is None else self.answer.fits

    @property
    def recomputes(self) -> bool:
        """Whether it fits only because the compiler recomputes."""
        return bool(self.fits) and (self.more_flops or 0.0) > RECOMPUTES

    @property
    def step(self) -> Range | None:
        """The predicted step in ms; None where there is none."""
        predicted = self.answer.predicted if self.answer is not None else None
        return predicted.ms if predicted is not None else None

    @property
    def rate(self) -> float | None:
        """Examples per second and chip, as predicted."""
        if self.step is None or not self.step.value:
            return None
        return self.batch * self.replicas / self.target.chips / self.step.value * 1e3

    @property
    def rate_per_price(self) -> float | None:
        """Examples per unit of the user's currency."""
        return None if self.rate is None or not self.price else self.rate * 3600 / self.price


@dataclass
class Plan:
    """The growing rows of one target, and the batches still to try."""

    target: Target
    price: float | None = None
    alone: bool = False
    """Whether the job has no strategy, and uses one replica of the slice."""
    answers: dict[int, Compilation] = field(default_factory=dict[int, Compilation])
    skipped: set[int] = field(default_factory=set[int])

    def largest_fitting(self) -> int:
        """The largest batch known to fit, 0 where there is none."""
        return max((b for b, a in self.answers.items() if a.fits), default=0)

    def smallest_refused(self) -> int | None:
        """The smallest batch known not to fit."""
        return min((b for b, a in self.answers.items() if a.fits is False), default=None)

    def middle(self) -> int | None:
        """The next batch of the bisection, None where it has converged."""
        low, high = self.largest_fitting(), self.smallest_refused()
        # A closer result than an eighth is not worth a compilation of minutes.
        if high is None or high - low <= max(STEP, low // 8):
            return None
        middle = (low + high) // 2 // STEP * STEP
        return middle if low < middle < high else None

    def rows(self) -> tuple[Row, ...]:
        """All batches, smallest first, each compared with the smallest that compiled."""
        # The smallest batch fits easily: its FLOPs per example are those without recomputation.
        base = next((a for _, a in sorted(self.answers.items()) if a.compiled), None)
        used = 1 if self.alone else self.target.replicas
        own = Row(target=self.target, replicas=used, price=self.price, batch=0, answer=None)
        rows = [
            _beside(replace(own, batch=batch, answer=answer), base)
            for batch, answer in self.answers.items()
        ]
        rows += [replace(own, batch=batch) for batch in self.skipped]
        return tuple(sorted(rows, key=lambda row: row.batch))


def _beside(row: Row, base: Compilation | None) -> Row:
    """The row with its additional cost per example over the smallest batch."""
    answer = row.answer
    if base is None or answer is None or not answer.compiled or not base.flops:
        return row
    flops = (answer.flops / answer.batch) / (base.flops / base.batch) - 1
    time = None
    if answer.step_ms and base.step_ms:
        time = (answer.step_ms / answer.batch) / (base.step_ms / base.batch) - 1
    return replace(row, more_flops=flops, more_time=time)


def best(rows: Iterable[Row]) -> Row | None:
    """The batch to choose: the fastest per example, with headroom; of similar ones the smallest."""
    fitting = [row for row in rows if row.fits]
    roomy = [row for row in fitting if _headroom(row) >= HEADROOM and not row.recomputes]
    # Where all are tight or recompute, the best of them is named nevertheless.
    rated = [row for row in roomy or fitting if row.rate is not None]
    if not rated:
        return (roomy or fitting)[-1] if fitting else None
    fastest = max(row.rate or 0.0 for row in rated)
    # The first one, since rows are ordered by batch.
    return next(row for row in rated if (row.rate or 0.0) * WORTH >= fastest)


def why(chosen: Row, rows: Sequence[Row]) -> str:
    """Why this batch was chosen, and no larger one."""
    larger = [row for row in rows if row.batch > chosen.batch]
    fitting = [row for row in larger if row.fits]
    if _headroom(chosen) < HEADROOM:
        return f"the only choice that fits, with {_headroom(chosen):.0%} headroom: expect trouble"
    if not larger:
        return "the largest that was asked for; a larger one was not tried"
    if not fitting:
        if larger[0].fits is None:
            return f"whether {larger[0].batch} fits is not known"
        return f"{larger[0].batch} does not fit"
    recomputing = next((row for row in fitting if row.recomputes), None)
    if recomputing is not None:
        return f"{recomputing.batch} fits, but recomputes: {_costs(recomputing)}"
    tight = next((row for row in fitting if _headroom(row) < HEADROOM), None)
    if tight is not None:
        return f"{tight.batch} fits, but leaves {_headroom(tight):.0%} of the HBM"
    return f"{fitting[-1].batch} fits, but is no faster an example"


def note(row: Row) -> str:
    """A row's note beside its figures."""
    answer = row.answer
    if answer is None:
        return "not tried"
    if answer.out_of_memory is None and answer.error is not None:
        return f"unknown: {answer.error.strip().splitlines()[0][:120]}"
    return "tight" if row.fits and not row.recomputes and _headroom(row) < HEADROOM else ""


def _costs(row: Row) -> str:
    """`30 % more FLOPs and 23 % more time an example`."""
    flops = f"{row.more_flops or 0.0:.0%} more FLOPs"
    if row.more_time is None:
        return f"{flops} an example"
    return f"{flops} and {row.more_time:.0%} more time an example"


def _headroom(row: Row) -> float:
    left = row.answer.headroom if row.answer is not None else None
    return -1.0 if left is None else left
