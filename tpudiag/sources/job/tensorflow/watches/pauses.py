"""Measures the loop's time outside training steps: evaluation, predictions, saving."""

import time
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Literal

from tpudiag.model import Location
from tpudiag.signals.training_loop import Pause
from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.points.step_loop import StepLoop

Kind = Literal["evaluation", "predict", "saving"]

MOST_TIMED = 50
FEWEST_STEPS_BETWEEN = 3
"""Least training steps between two evaluations; a function called more often belongs to training,
such as a policy that acts between its updates; fit's callbacks per batch are exempt, and a model
that gets a whole batch."""
_BATCH_HOOKS = frozenset(("on_train_batch_end", "on_train_batch_begin", "on_batch_end"))


@dataclass
class _Line:
    spent_ms: list[float] = field(default_factory=list[float])
    training_ms: list[float] = field(default_factory=list[float])
    """Training time before each of them."""
    at_step: list[int] = field(default_factory=list[int])
    eager: bool = False
    traced: bool = False
    """Whether steps before it were only traced."""
    each_batch: bool = False
    """Whether a callback of fit causes it."""
    in_step_loop: bool = False
    examples: int = 0
    """Those of its largest call of a model outside of any function."""
    whole_ms: float | None = None
    """The longest of its pauses of which nothing was answered."""

    def lasted(self, took_ms: float, *, answered: bool) -> float:
        """What a pause took; one of answered calls no longer than one that really ran.

        The data end no pass whose calls are answered: how long it is says nothing of the job.
        """
        if answered:
            return took_ms if self.whole_ms is None else min(took_ms, self.whole_ms)
        self.whole_ms = max(took_ms, self.whole_ms or 0.0)
        return took_ms

    @property
    def seldom(self) -> bool:
        """Whether training goes on in between."""
        return self.steps_between >= FEWEST_STEPS_BETWEEN

    @property
    def steps_between(self) -> float:
        """Training steps between rounds of pauses."""
        # Several evaluations after one step (validation, test) are one round.
        rounds = len(set(self.at_step))
        return (self.at_step[-1] - self.at_step[0]) / (rounds - 1) if rounds > 1 else 0.0


class PauseWatch:
    """Hooks evaluating, predicting and saving.

    An evaluation counts the time of its functions, as training does: CPU replicas' iterators start
    slowly.
    All is processor time, a save's that of its thread, which does not grow with what else the
    machine does.
    """

    def __init__(self) -> None:
        self._lines: dict[tuple[Kind, Location | None], _Line] = {}
        self.inside = False
        """Whether one that Keras or TensorFlow makes is going on."""
        self.answers = 0
        """Calls so far that were answered with their last result, told by the one who answers."""
        self.only_traced = False
        """Whether training steps are no longer run."""
        self.ended = 0
        """Pauses so far, each line's at each time."""
        self._training_ms = 0.0
        self._steps = 0
        self._calls: dict[object, list[float]] = {}
        self._spent_ms = 0.0
        self._skipped = False
        self._loop = StepLoop()

    def watch_tensorflow(self) -> None:
        """Hook TensorFlow's own checkpoints."""
        for saved in (table.MANAGER_SAVED, table.CHECKPOINT_SAVED):
            hooks.around(saved, partial(self._timed, "saving"))

    def watch_keras(self, keras: Library) -> None:
        """Hook a Keras."""
        hooks.around(table.EVALUATE, partial(self._timed, "evaluation"), keras)
        hooks.around(table.PREDICT, partial(self._timed, "predict"), keras)
        hooks.around(table.MODEL_SAVED, partial(self._timed, "saving"), keras)

    def answered(self) -> None:
        """The call in progress is answered, not run."""
        self.answers += 1

    def trained(self, took_ms: float | None, function: object = None) -> None:
        """A training step ended after so long; None if it was answered."""
        self._training_ms += self._usual(function, took_ms)
        self._steps += 1
        if self._steps <= MOST_TIMED:
            self._loop.stepped()

    def evaluated(
        self,
        function: object,
        took_ms: float | None,
        location: Location | None,
        *,
        eager: bool = False,
        examples: int = 0,
    ) -> None:
        """A function without gradients was called between training steps; None if answered."""
        self._skipped = self._skipped or took_ms is None
        took_ms = self._usual(function, took_ms)
        if self.inside:
            self._spent_ms += took_ms
        elif self._training_ms:
            line = self._add("evaluation", location, took_ms)
            line.eager, line.examples = eager, max(line.examples, examples)

    def facts(self) -> tuple[Pause, ...]:
        """The repeated pauses; shares of time only where the steps in between ran."""
        return tuple(
            _pause(kind, location, line)
            for (kind, location), line in self._lines.items()
            if len(line.spent_ms) > 1
            and (line.each_batch or not line.traced)
            and (kind == "saving" or line.each_batch or line.seldom or line.examples)
        )

    def _usual(self, function: object, took_ms: float | None) -> float:
        """What a call took; of an answered one what its real ones take, the first one's trace left
        out where there are others."""
        calls = self._calls.setdefault(function, [])
        if took_ms is None:
            return median(calls[1:] or calls or [0.0])
        if len(calls) < MOST_TIMED:
            calls.append(took_ms)
        return took_ms

    def _add(self, kind: Kind, location: Location | None, took_ms: float) -> _Line:
        self.ended += 1
        line = self._lines.setdefault((kind, location), _Line())
        line.spent_ms.append(took_ms)
        line.training_ms.append(self._training_ms)
        line.at_step.append(self._steps)
        line.traced = self.only_traced
        return line

    def _timed(self, kind: Kind, original: Call, /, *args: object, **kwargs: object) -> object:
        if self.inside:
            return original(*args, **kwargs)
        self.inside, self._spent_ms, began = True, 0.0, time.thread_time()
        self._skipped = False
        try:
            return original(*args, **kwargs)
        finally:
            self.inside = False
            # Saving or evaluating before the first step (a warm start) does not delay training.
            if self._training_ms:
                # A save is its thread's: the input's threads compute beside it.
                saved_ms = (time.thread_time() - began) * 1e3
                where = user_lines.caller()
                known = self._lines.setdefault((kind, where), _Line())
                lasted_ms = known.lasted(self._spent_ms, answered=self._skipped)
                line = self._add(kind, where, saved_ms if kind == "saving" else lasted_ms)
                names = (frame.f_code.co_name for frame in user_lines.frames())
                line.each_batch = line.each_batch or not _BATCH_HOOKS.isdisjoint(names)
                line.in_step_loop = self._loop.holds_caller()


def _pause(kind: Kind, location: Location | None, line: _Line) -> Pause:
    """A line's pauses after training had continued, and the training in between."""
    first = line.training_ms[0]
    # Both sums begin after the first pause: the time before it includes tracing.
    later = zip(line.spent_ms, line.training_ms, strict=True)
    return Pause(
        kind=kind,
        times=len(line.spent_ms),
        spent_ms=sum(spent for spent, training in later if training > first),
        training_ms=line.training_ms[-1] - first,
        location=location,
        eager=line.eager,
        each_batch=line.each_batch,
        in_step_loop=line.in_step_loop,
        examples=0 if line.seldom else line.examples,
        dispatches_between=line.steps_between,
    )
