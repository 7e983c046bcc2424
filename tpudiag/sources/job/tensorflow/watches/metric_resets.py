"""Watches which metrics a loop resets, and which it reads epoch after epoch without."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.training_loop import KeptMetric
from tpudiag.sources.job.points import Library, hooks, table, user_lines


@dataclass
class _Use:
    metric: Any
    """Kept alive, so that its id is not reused."""
    trains: bool | None = None
    """Updated by a function that trains; None where neither was seen."""
    reads: dict[int, Location] = field(default_factory=dict[int, Location])
    """By the steps so far: the lines that read it."""
    resets: list[int] = field(default_factory=list[int])


class MetricResetWatch:
    """Hooks the metrics of a Keras; `steps` counts those that were dispatched."""

    def __init__(self, tf: Library, steps: Callable[[], int]) -> None:
        self._tf, self._steps = tf, steps
        self._uses: dict[int, _Use] = {}
        self._updated: list[_Use] = []
        """Since the last function was traced."""

    def watch_keras(self, keras: Library) -> None:
        """Hook a Keras."""
        hooks.after(table.METRIC_MADE, self._made, keras)

    def traced(self, trains: bool) -> None:
        """A function was traced, and whether it took gradients."""
        for use in self._updated:
            use.trains = bool(use.trains) or trains
        self._updated.clear()

    def facts(self) -> tuple[KeptMetric, ...]:
        """What is read before and after others of its kind are reset, and never is itself.

        The mean of an epoch so far may be told beside metrics of evaluations, which are reset.
        """
        reset = [use for use in self._uses.values() if use.resets]
        return tuple(
            KeptMetric(use.metric.name, len(use.reads), [*use.reads.values()][-1])
            for use in self._uses.values()
            if not use.resets
            and use.trains is not None
            and any(
                use.trains in (other.trains, False) and _around(use, step) and _around(other, step)
                for other in reset
                for step in other.resets
            )
        )

    def _made(self, metric: object, *_: object, **__: object) -> None:
        if type(metric).__name__ == "Sum":  # as of all examples so far
            return
        hooks.before(table.METRIC_UPDATED, self._update, type(metric))
        hooks.before(table.METRIC_READ, self._read, type(metric))
        hooks.before(table.METRIC_RESET, self._reset, type(metric))

    def _use(self, metric: object) -> _Use:
        return self._uses.setdefault(id(metric), _Use(metric))

    def _update(self, metric: object, *_: object, **__: object) -> None:
        if not self._tf.executing_eagerly():
            self._updated.append(self._use(metric))

    def _read(self, metric: object, *_: object, **__: object) -> None:
        location = user_lines.direct_caller()
        if location is not None and self._tf.executing_eagerly():
            self._use(metric).reads[self._steps()] = location

    def _reset(self, metric: object, *_: object, **__: object) -> None:
        self._use(metric).resets.append(self._steps())


def _around(use: _Use, step: int) -> bool:
    """Whether it is read up to a step and after it."""
    return bool(use.reads) and min(use.reads) <= step < max(use.reads)
