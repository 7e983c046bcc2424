"""All watches around the training step, combined for the observer."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from tpudiag.signals.step_numerics import StepNumerics
from tpudiag.signals.training_loop import FitSchedule, TrainingLoop
from tpudiag.sources.job.points import Call, Library, hooks, privates, table, user_lines
from tpudiag.sources.job.points.library_objects import Function, Variable
from tpudiag.sources.job.points.python_slots import Numbers
from tpudiag.sources.job.tensorflow.graphs import numerics
from tpudiag.sources.job.tensorflow.graphs.penalties import RegularizerWatch
from tpudiag.sources.job.tensorflow.watches import schedules
from tpudiag.sources.job.tensorflow.watches.batch_hooks import BatchHookWatch
from tpudiag.sources.job.tensorflow.watches.gradient_sums import GradientSumWatch
from tpudiag.sources.job.tensorflow.watches.iterator_starts import IteratorStartWatch
from tpudiag.sources.job.tensorflow.watches.metric_resets import MetricResetWatch
from tpudiag.sources.job.tensorflow.watches.monitors import MonitorWatch
from tpudiag.sources.job.tensorflow.watches.norm_modes import NormModeWatch
from tpudiag.sources.job.tensorflow.watches.pauses import PauseWatch
from tpudiag.sources.job.tensorflow.watches.python_state import PythonStateWatch
from tpudiag.sources.job.tensorflow.watches.reductions import ReductionWatch
from tpudiag.sources.job.tensorflow.watches.setup_calls import SetupWatch
from tpudiag.sources.job.tensorflow.watches.step_results import StepResultWatch
from tpudiag.sources.job.tensorflow.watches.training import GradientCall, GradientWatch
from tpudiag.sources.job.tensorflow.watches.undistributed import UndistributedWatch


class LoopWatch:
    """Installs the watches on TensorFlow, and notifies them of training calls."""

    def __init__(self, tf: Library, gradients: GradientWatch) -> None:
        self._tf, self._gradients = tf, gradients
        self._thread = threading.current_thread()
        self._inside = False
        self.at_rest = False
        """Past the observed steps, where calls are answered rather than run."""
        self.optimizers: Callable[[], Sequence[object]] = tuple
        """Those that the job made."""
        self._observed: TrainingLoop | None = None
        self._trains: set[object] = set()
        self.state = PythonStateWatch(lambda: not tf.executing_eagerly() and tf.inside_function())
        self.results = StepResultWatch(tf)
        self.results.losses = lambda: tuple(call.target for call in gradients.calls)
        self.metrics = MetricResetWatch(tf, lambda: self.results.dispatches)
        self.iterators = IteratorStartWatch(tf, lambda: self.results.steps)
        self.setup = SetupWatch(tf)
        self.pauses = PauseWatch()
        self.pauses.watch_tensorflow()
        self.undistributed = UndistributedWatch(tf, gradients)
        self.norms = NormModeWatch(tf)
        self.batch_hooks = BatchHookWatch()
        self.monitors = MonitorWatch()
        self.regularizers = RegularizerWatch(tf)
        self.clipped = numerics.watch_clipping(tf, gradients)
        self.reductions = ReductionWatch(tf, gradients)
        self.sums = GradientSumWatch(tf, self.reductions, lambda: self.results.steps)
        hooks.around(table.FUNCTION_CALLED, self._called, type(tf.function(lambda: 0)))

    def watch_keras(self, keras: Library, package: str) -> None:
        """Hook a Keras."""
        self.setup.watch_keras(keras, package)
        watches = self.results, self.pauses, self.norms, self.batch_hooks, self.monitors
        for each in (*watches, self.regularizers, self.metrics):
            each.watch_keras(keras)
        hooks.around(table.MODEL_CALLED, self._model_called, keras)

    def facts(self) -> TrainingLoop:
        """Everything recorded so far; at rest only what a call that is answered shows is added."""
        return replace(
            self._observed or self._of_steps(),
            replica_reads=tuple(self.results.replica_reads.values()),
            frozen=(*self.state.facts(), *self.setup.frozen),
            monitors=self.monitors.facts(),
            kept_metrics=self.metrics.facts(),
            metrics_on_scores=tuple(self.metrics.on_scores.values()),
            trained_in_evaluation=self.norms.in_evaluation(),
            endless_sum=self.sums.facts(),
        )

    def _of_steps(self) -> TrainingLoop:
        """What only steps that run show."""
        return TrainingLoop(
            dispatches=self.results.steps,
            fetches=self.results.fetches(),
            kept_results=hooks.quietly(self.results.held.facts),
            setups=self.setup.setups(),
            iterators=self.iterators.facts(),
            fits=tuple(self.setup.fit_data),
            schedules=self.setup.schedules() if self.setup.fits else self._of_loop(),
            pauses=self.pauses.facts(),
            undistributed=self.undistributed.input,
            gpu=tuple(self.setup.gpu.values()),
            batch_callbacks=self.batch_hooks.facts(),
            tpu_strategy=self.setup.tpu_strategy,
            unplaced=self.setup.unplaced,
        )

    def _of_loop(self) -> tuple[FitSchedule, ...]:
        made = [(each, privates.steps_taken(each)) for each in self.optimizers()]
        return tuple(filter(None, (schedules.of_loop(each, taken) for each, taken in made)))

    def variable_made(self, variable: Variable) -> None:
        """A variable was made, of each replica."""
        self.setup.variable_made(variable)
        self.sums.made(variable)

    def rest(self) -> None:
        """From now on calls are answered."""
        self._observed, self.at_rest = self.facts(), True

    def numerics(self, call: GradientCall, layer_line: numerics.LayerLine) -> StepNumerics:
        """The traced step's numerical problems."""
        step = numerics.read(self._tf, call, layer_line, tuple(self.clipped.values()))
        outside = hooks.quietly(self.setup.outside_metrics, call.graph) or ()
        read = hooks.quietly(self.setup.outside_read, call.graph) or ()
        frozen = hooks.quietly(self.norms.facts, call) or ()
        return replace(
            step,
            outside_metrics=outside,
            outside_read=read,
            frozen_norms=frozen,
            summed_twice=self.reductions.twice,
            unused_regularizer=hooks.quietly(self.regularizers.unused, call),
        )

    def _at_its_line(self) -> bool:
        """Whether the job's own thread calls in Python, not within another call."""
        own = threading.current_thread() is self._thread and not self._inside
        return own and bool(self._tf.executing_eagerly())

    def _called(
        self, original: Call, function: Function, *args: object, **kwargs: object
    ) -> object:
        if not self._at_its_line():
            return original(function, *args, **kwargs)
        traces = function.experimental_get_tracing_count()
        gradients, answers = self._gradients.taken, self.pauses.answers
        with hooks.instead(self, _inside=True):
            before: Numbers = hooks.quietly(self.state.before, function) or {}
            began = time.process_time()
            result = original(function, *args, **kwargs)
        took_ms = (time.process_time() - began) * 1e3 if self.pauses.answers == answers else None
        traced = function.experimental_get_tracing_count() != traces
        # Gradients are taken while a function is traced, and in no later call of it.
        if self._gradients.taken > gradients:
            self._trains.add(function)
        # An answered call is not traced again where another Python number in it would be.
        numbers = any(type(each) in (int, float) for each in (*args, *kwargs.values()))
        if not (self.at_rest and numbers):
            hooks.quietly(self.state.after, function, before, traced)
        if traced:
            trains = function in self._trains
            updates = hooks.quietly(self.metrics.traced, trains)
            hooks.quietly(self.norms.traced, trains, bool(updates))
        hooks.quietly(self.results.gave, result, function in self._trains)
        if not self.at_rest:
            hooks.quietly(self._returned, function, result, traced, took_ms)
        return result

    def _model_called(
        self, original: Call, model: object, *args: object, **kwargs: object
    ) -> object:
        if (
            self.at_rest
            or not self._at_its_line()
            or not self.results.steps
            or self._gradients.eager_calls
            or user_lines.direct_caller() is None
        ):
            return original(model, *args, **kwargs)
        began = time.process_time()
        try:
            with hooks.instead(self, _inside=True):
                return original(model, *args, **kwargs)
        finally:
            took_ms = (time.process_time() - began) * 1e3
            hooks.quietly(self._evaluated_eagerly, model, took_ms, (args, kwargs))

    def _evaluated_eagerly(self, model: object, took_ms: float, given: object) -> None:
        shapes = [each.shape for each in self._tf.nest.flatten(given) if hasattr(each, "shape")]
        examples = max((shape[0] or 0 for shape in shapes if len(shape)), default=0)
        where = user_lines.caller()
        self.pauses.evaluated(id(model), took_ms, where, eager=True, examples=examples)

    def _returned(
        self,
        function: Function,
        result: object,
        traced: bool,
        took_ms: float | None,
    ) -> None:
        if function in self._trains:
            self.results.step_done(result, function)
            if not traced:
                self.pauses.trained(took_ms, function)
        elif not traced:
            self.pauses.evaluated(function, took_ms, user_lines.caller())
