"""The schedules of optimizers' learning rates, beside the steps that were taken."""

from collections.abc import Callable
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.training_loop import FitSchedule
from tpudiag.sources.job.points import Library, barrier, hooks, table, user_lines

_MOST = 10**8
"""Steps that no job takes: a schedule which is not at its end by then has none."""


class Rates:
    """Those of a job, each with the line that gave it to an optimizer."""

    def __init__(self) -> None:
        self._given: list[tuple[Callable[[int], Any], Location | None]] = []
        self._calls_each = 1

    def watch(self, optax: Library) -> None:
        """Hook what takes a schedule, and what makes one update of several calls."""
        hooks.before(table.RATE_SCHEDULED, self._scheduled, optax)
        hooks.before(table.STEPS_ACCUMULATED, self._accumulated, optax)

    def _scheduled(self, step_size_fn: Callable[[int], Any]) -> None:
        self._given.append((step_size_fn, user_lines.caller()))

    def _accumulated(
        self,
        _made: object,
        _opt: object = None,
        every_k_schedule: object = 0,
        *_: object,
        **__: object,
    ) -> None:
        if isinstance(every_k_schedule, int):
            self._calls_each = max(every_k_schedule, 1)

    def facts(self, calls: int) -> tuple[FitSchedule, ...]:
        """Schedules that fall and end, of a job that made so many calls of its step."""
        found: dict[int, FitSchedule] = {}
        for schedule, location in self._given if calls else ():
            ends = barrier.attempt("schedule", end, schedule)
            if ends is not None:
                steps, last = ends
                found[steps] = FitSchedule(
                    name="the learning rate's schedule",
                    steps=steps,
                    last_rate=last,
                    steps_per_epoch=calls,
                    epochs=0,
                    calls_each=self._calls_each,
                    location=location,
                )
        return tuple(found.values())


def end(schedule: Callable[[int], Any]) -> tuple[int, float] | None:
    """When it comes to its last rate, and that; None where it goes on, or does not fall to it."""

    def rate(step: int) -> float:
        return abs(float(schedule(step)))

    last, before, at = rate(_MOST), 1, _MOST // 2
    if rate(at) != last or rate(before) == last:
        return None
    while at - before > 1:
        middle = (before + at) // 2
        before, at = (before, middle) if rate(middle) == last else (middle, at)
    return (at, last) if max(rate(1), rate(at // 2)) > last else None
