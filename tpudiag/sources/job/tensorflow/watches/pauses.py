"""Measures the loop's time outside training steps: evaluation, predictions, saving."""

import time
from dataclasses import dataclass, field
from operator import sub
from statistics import median
from typing import Literal

from tpudiag.model import Location
from tpudiag.signals.training_loop import Pause
from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.points.step_loop import StepLoop

Kind = Literal["evaluation", "predict", "saving"]

ANSWERED = 0.1
"""A call below this share of its usual time was answered, not run."""
MOST_TIMED = 50
FEWEST_STEPS_BETWEEN = 3
"""Least training steps between two evaluations; a function called more often belongs to training,
such as a policy that acts between its updates; fit's callbacks per batch are exempt."""
_BATCH_HOOKS = frozenset(("on_train_batch_end", "on_train_batch_begin", "on_batch_end"))


@dataclass
class _Line:
    """The pauses of one kind at one line."""

    spent_ms: list[float] = field(default_factory=list[float])
    training_ms: list[float] = field(default_factory=list[float])
    """Training time before each of them."""
    at_step: list[int] = field(default_factory=list[int])
    eager: bool = False
    each_batch: bool = False
    """Whether a callback of fit causes it."""
    in_step_loop: bool = False

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
    All is processor time, which does not grow with what else the machine does.
    """

    def __init__(self) -> None:
        self._lines: dict[tuple[Kind, Location | None], _Line] = {}
        self._inside = False
        self.ended = 0
        """Pauses so far, each line's at each time."""
        self._training_ms = 0.0
        self._steps = 0
        self._calls: dict[object, list[float]] = {}
        self._spent_ms = 0.0
        self._loop = StepLoop()
        for saved in (table.MANAGER_SAVED, table.CHECKPOINT_SAVED):
            hooks.around(saved, self._timed("saving"))

    def watch_keras(self, keras: Library) -> None:
        """Hook a Keras."""
        hooks.around(table.EVALUATE, self._timed("evaluation"), keras)
        hooks.around(table.PREDICT, self._timed("predict"), keras)
        hooks.around(table.MODEL_SAVED, self._timed("saving"), keras)

    def trained(self, took_ms: float) -> None:
        """A training step ended after so long."""
        self._training_ms += took_ms
        self._steps += 1
        if self._steps <= MOST_TIMED:
            self._loop.stepped()

    def evaluated(
        self, function: object, took_ms: float, location: Location | None, *, eager: bool = False
    ) -> None:
        """A function without gradients was called between training steps.

        A call that took almost no time was answered instead of run, and counts as long as a real
        one.
        """
        calls = self._calls.setdefault(function, [])
        # The first call traces: compared with it, a real one takes almost no time.
        usual_ms = median(calls[1:]) if len(calls) > 1 else 0.0
        owed_ms = usual_ms if took_ms < ANSWERED * usual_ms else 0.0
        if not owed_ms and len(calls) < MOST_TIMED:
            calls.append(took_ms)
        if self._inside:
            self._spent_ms += took_ms + owed_ms
        elif self._training_ms:
            self._add("evaluation", location, took_ms + owed_ms).eager = eager

    def facts(self) -> tuple[Pause, ...]:
        """The repeated pauses."""
        return tuple(
            _pause(kind, location, line)
            for (kind, location), line in self._lines.items()
            if len(line.spent_ms) > 1
            and (kind == "saving" or line.each_batch or line.steps_between >= FEWEST_STEPS_BETWEEN)
        )

    def _add(self, kind: Kind, location: Location | None, took_ms: float) -> _Line:
        """Add one pause."""
        self.ended += 1
        line = self._lines.setdefault((kind, location), _Line())
        line.spent_ms.append(took_ms)
        line.training_ms.append(self._training_ms)
        line.at_step.append(self._steps)
        return line

    def _timed(self, kind: Kind) -> Call:
        """Times the outermost call."""

        def call(original: Call, *args: object, **kwargs: object) -> object:
            if self._inside:
                return original(*args, **kwargs)
            self._inside, self._spent_ms, began = True, 0.0, _clocks()
            try:
                return original(*args, **kwargs)
            finally:
                self._inside = False
                # Saving or evaluating before the first step (a warm start) does not delay training.
                if self._training_ms:
                    # The input's threads may compute beside a save: it took no longer than it took.
                    saved_ms = min(map(sub, _clocks(), began)) * 1e3
                    took_ms = saved_ms if kind == "saving" else self._spent_ms
                    line = self._add(kind, user_lines.caller(), took_ms)
                    line.each_batch = line.each_batch or _of_a_batch()
                    line.in_step_loop = self._loop.holds_caller()

        return call


def _clocks() -> tuple[float, float]:
    """The processor time of this process, and that of the clock on the wall."""
    return time.process_time(), time.perf_counter()


def _of_a_batch() -> bool:
    """Whether a callback's batch hook is on the stack."""
    return any(frame.f_code.co_name in _BATCH_HOOKS for frame in user_lines.frames())


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
        dispatches_between=line.steps_between,
    )
