"""Continues past the observed steps, shortened, to the end of the script or of its time."""

import sys
import threading
from collections.abc import Callable

from tpudiag.signals import Coverage, CoverageEnd
from tpudiag.sources.job.points import Call, Library, barrier, hooks, main_flow, table
from tpudiag.sources.job.tensorflow.shortening import heavy_functions
from tpudiag.sources.job.tensorflow.shortening.deadline import Deadline
from tpudiag.sources.job.tensorflow.shortening.epochs import EpochWatch
from tpudiag.sources.job.tensorflow.shortening.fast_forward import FastForward
from tpudiag.sources.job.tensorflow.shortening.loops import InnerLoopWatch
from tpudiag.sources.job.tensorflow.shortening.script_loops import ScriptLoops
from tpudiag.sources.job.tensorflow.watches.functions import FunctionWatch
from tpudiag.sources.job.tensorflow.watches.strategies import StrategyWatch
from tpudiag.sources.job.tensorflow.watches.variables import VariableWatch

NEAR_END_STATEMENTS = 8
"""So few remaining statements of the main flow mean that the end is near."""


class WholeScript:
    """Shortens a job; before `begin` only loops inside functions, no training steps."""

    def __init__(
        self,
        tf: Library,
        budget_s: float,
        functions: FunctionWatch,
        strategies: StrategyWatch,
        variables: VariableWatch,
        steps_seen: Callable[[], int],
        on_hard_end: Callable[[], None],
    ) -> None:
        self._tf, self._functions, self._budget_s = tf, functions, budget_s
        # Its own clock is that of the wall, and a third of what two cores give.
        self.forward = FastForward(budget_s / 3, variables.counters)
        self.epochs = EpochWatch(tf, self.forward)
        self._reading = False
        self.loops = InnerLoopWatch(tf, steps_seen, strategies.in_replica, self._loop_shortened)
        self.deadline = Deadline(budget_s, on_hard_end, self._near_end)
        self._begun, self._variables = 0, variables
        self._in_replica, self.script_loops = strategies.in_replica, ScriptLoops()
        self._stack: list[tuple[str, int, int]] = []
        functions.forward = self.forward
        functions.before_step = self._before_step
        for at in (table.STRATEGY_DISTRIBUTES, table.STRATEGY_DISTRIBUTES_BY_FUNCTION):
            hooks.after(at, self._distributed, gives=True)
        hooks.around(table.DATASET_READ, self._read)

    def follow(self, script_loops: ScriptLoops) -> None:
        """The loops of the script's own source."""
        self.script_loops = script_loops
        script_loops.work = lambda: (self._variables.made, self._begun + self.forward.passes)
        script_loops.may_end, script_loops.left_s = self._may_end, self.deadline.left_s
        script_loops.counts = lambda: self.forward.counts() if self._tf.executing_eagerly() else []
        script_loops.catch_up = self.forward.catch_up

    def begin(self) -> None:
        """The steps were observed: continue, shortened, until the time is over."""
        self.forward.begin()
        self.forward.moves_late = bool(barrier.attempt("counters", self._hook_reads))
        self.deadline.start()
        self.script_loops.began_s = self.script_loops.clock()

    def _hook_reads(self) -> bool:
        """Move counters when they are read or saved; False where reads cannot be hooked."""
        forward, eagerly = self.forward, self._tf.executing_eagerly

        def read(*_: object, **__: object) -> None:
            forward.read(in_graph=not eagerly())

        classes: set[object] = {type(variable) for variable, _ in forward.counts()}
        for class_ in classes:
            hooks.before(table.VARIABLE_READ, read, class_)
        for at in (table.CHECKPOINT_SAVED, table.MANAGER_SAVED, table.MODEL_SAVED_WHOLE):
            hooks.before(at, read)
        return any(list(table.VARIABLE_READ.places(class_)) for class_ in classes)

    def ended_by(self, error: BaseException | None) -> None:
        """The job ended, by itself or by an exception."""
        self.deadline.cancel()
        if error is not None:
            self._stack = main_flow.frames_of_traceback(error.__traceback__)

    def stuck(self) -> None:
        """The job does not end: record its main thread's position."""
        self._stack = _main_thread()

    def _near_end(self) -> bool:
        """Whether few statements are left of the script's main flow."""
        rest = barrier.attempt("main flow", main_flow.unreached, _main_thread())
        return rest is not None and len(rest) <= NEAR_END_STATEMENTS

    def plan(self) -> str:
        """How much there is to come to, and in which time: what does not fit is left out."""
        left = len(main_flow.unreached(_main_thread()))
        more = " or more" if left == main_flow.MOST_UNREACHED else ""
        return f" ({left}{more} statements in {self._budget_s:.0f} s of CPU time at most)"

    def coverage(self, end: CoverageEnd, *, so_far: bool = False) -> Coverage:
        """How much of the script ran; `so_far`: it still runs."""
        made = (*self.epochs.shortened, *self.loops.shortened, *self.script_loops.shortened)
        functions = (s for s in self._functions.step_functions() if s.ran)
        stack = _main_thread() if so_far else self._stack
        return self.deadline.coverage(end, functions, stack, tuple(dict.fromkeys(made)))

    def _loop_shortened(self, length: int | str | None) -> None:
        if self._functions.current is not None:
            self._functions.current.loops.append(length)

    def _may_end(self) -> bool:
        """Whether a loop is no part of a graph, a replica's step or a gradient."""
        graph = not self._tf.executing_eagerly()
        return not (graph or self._in_replica() or heavy_functions.is_recorded())

    def _before_step(self, _: object) -> None:
        self._begun += 1
        self.deadline.check()

    def _distributed(self, distributed: object, *_: object, **__: object) -> None:
        hooks.around(table.DISTRIBUTED_READ, self._read, type(distributed))

    def _read(self, original: Call, dataset: object) -> object:
        """A pass begins; a strategy's iterator reads one iterator per worker."""
        if self._reading or not self._tf.executing_eagerly():
            return original(dataset)
        self.forward.new_pass()
        with hooks.instead(self, _reading=True):
            return original(dataset)


def _main_thread() -> list[tuple[str, int, int]]:
    """The frames of the main thread, read from the thread of the clock."""
    main = threading.main_thread().ident
    frame = sys._current_frames().get(main or 0)  # pyright: ignore[reportPrivateUsage]
    return main_flow.frames_of_thread(frame)
