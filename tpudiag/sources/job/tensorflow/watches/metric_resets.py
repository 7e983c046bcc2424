"""Watches metrics: which a loop reads epoch after epoch and never resets, and what they get."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.training_loop import KeptMetric, MetricOnScores
from tpudiag.sources.job.points import Library, hooks, privates, table, user_lines
from tpudiag.sources.job.tensorflow.graphs import graphs, loss_inputs


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
        self.on_scores: dict[int, MetricOnScores] = {}
        """By their ids those of probabilities that get a layer's output without an activation."""

    def watch_keras(self, keras: Library) -> None:
        """Hook a Keras."""
        hooks.before(table.METRIC_BEGUN, self._made, keras)
        hooks.after(table.METRIC_MADE, self._made, keras)

    def traced(self, trains: bool) -> bool:
        """A function was traced, and whether it took gradients; gives whether it updates any."""
        updated, self._updated = self._updated, []
        for use in updated:
            use.trains = bool(use.trains) or trains
        return bool(updated)

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
        class_ = metric if isinstance(metric, type) else type(metric)
        if class_.__name__ == "Sum":  # as of all examples so far
            return
        hooks.before(table.METRIC_UPDATED, self._update, class_)
        hooks.before(table.METRIC_READ, self._read, class_)
        hooks.before(table.METRIC_RESET, self._reset, class_)

    def _use(self, metric: object) -> _Use:
        return self._uses.setdefault(id(metric), _Use(metric))

    def _update(self, metric: object, *given: Any, **named: Any) -> None:
        if self._tf.executing_eagerly():
            return
        self._updated.append(self._use(metric))
        predicted: Any = named.get("y_pred", given[1] if len(given) > 1 else None)
        if not (hasattr(predicted, "op") and _is_of_probabilities(metric)):
            return
        if loss_inputs.is_linear(graphs.source(predicted).op):
            scores = MetricOnScores(str(getattr(metric, "name", "")), user_lines.caller())
            self.on_scores.setdefault(id(metric), scores)

    def _read(self, metric: object, *_: object, **__: object) -> None:
        location = user_lines.direct_caller()
        if location is not None and self._tf.executing_eagerly():
            self._use(metric).reads[self._steps()] = location

    def _reset(self, metric: object, *_: object, **__: object) -> None:
        self._use(metric).resets.append(self._steps())


def _is_of_probabilities(metric: Any) -> bool:
    """Whether it compares what it gets with thresholds between 0 and 1: of scores it is 0."""
    options = privates.METRIC_OPTIONS.of(metric, None)
    named: Any = options.get("threshold") if options else None
    given = getattr(metric, "thresholds", getattr(metric, "threshold", named))
    scores = privates.METRIC_OF_SCORES.of(metric, False)
    several: list[Any] = [*given] if isinstance(given, (list, tuple)) else [given]
    return not scores and any(isinstance(each, float) and 0 < each < 1 for each in several)


def _around(use: _Use, step: int) -> bool:
    """Whether it is read up to a step and after it."""
    return bool(use.reads) and min(use.reads) <= step < max(use.reads)
