"""Puts the hooks on TensorFlow and Keras, and turns what they saw into facts."""

from __future__ import annotations

import os
import time
from typing import Any

from tpudiag.signals import (
    Batch,
    Checkpoints,
    Dispatch,
    JobEnd,
    StepTimes,
    TensorFlowImport,
    TensorSeen,
)
from tpudiag.sources.job.process import host_memory
from tpudiag.sources.job.process.protocol import UP_TO_FIRST_STEP, JobSpec, Recorder
from tpudiag.sources.job.tensorflow import graphs, loss, tpu_stubs, user_lines
from tpudiag.sources.job.tensorflow.batches import batch_of
from tpudiag.sources.job.tensorflow.checkpoints import CheckpointWatch
from tpudiag.sources.job.tensorflow.fake_data.install import FakeData
from tpudiag.sources.job.tensorflow.functions import FunctionWatch
from tpudiag.sources.job.tensorflow.iterators import IteratorRelease
from tpudiag.sources.job.tensorflow.keras import KerasWatch
from tpudiag.sources.job.tensorflow.lowering import LoweringWatch
from tpudiag.sources.job.tensorflow.pipelines import PipelineWatch
from tpudiag.sources.job.tensorflow.sandbox import RemoteSandbox, Sandbox
from tpudiag.sources.job.tensorflow.steps import StepWatch
from tpudiag.sources.job.tensorflow.strategies import StrategyWatch
from tpudiag.sources.job.tensorflow.tf1 import Tf1Watch, tf2_enabled
from tpudiag.sources.job.tensorflow.tpu import TpuWatch
from tpudiag.sources.job.tensorflow.training import GradientWatch
from tpudiag.sources.job.tensorflow.variables import VariableWatch

ENOUGH_RETRACES = 6
"""A step that was traced again so often need not be watched longer: each trace takes seconds."""


class Observer:
    """All watches of one job; installed when the job imports TensorFlow."""

    def __init__(self, spec: JobSpec, recorder: Recorder) -> None:
        self._spec, self._recorder = spec, recorder
        self._import_started = time.perf_counter()
        self._tf: Any = None
        self._steps: StepWatch | None = None
        self._import_s = 0.0
        self._early_keras: list[tuple[Any, str]] = []
        self._examined = False
        self._input_budget_s = spec.measure_input_s
        self._batch_seen: Batch | None = None
        self._lowering: LoweringWatch | None = None
        self.stopped = False
        self._sandbox = Sandbox(spec.sandbox) if spec.sandbox else None
        self.fake_data: FakeData | None = None
        if spec.fake_data:
            folder = os.path.join(spec.log_dir, "fake-data")  # noqa: PTH118
            self._sandbox = self._sandbox or RemoteSandbox(folder)
            self.fake_data = FakeData(folder, recorder.put, self._sandbox.holds)
        if self._sandbox is not None:
            self._sandbox.install()

    def importing_tensorflow(self) -> None:
        """TensorFlow is about to be imported; a process that dies now died of that."""
        self._import_started = time.perf_counter()
        self._recorder.phase("importing TensorFlow")

    def imported_tensorflow(self, tf: Any) -> None:
        """TensorFlow is there, and nothing of it has run yet: install everything."""
        self._tf = tf
        self._import_s = time.perf_counter() - self._import_started
        self._recorder.put(tensorflow=self._import_fact())
        user_lines.follow_autograph()
        if self._sandbox is not None:
            self._sandbox.watch_tensorflow(tf)
        if self.fake_data is not None:
            self.fake_data.watch_tensorflow(tf)
        if self._spec.rehearse:
            tpu_stubs.install(
                tf, self._spec.replicas, self._spec.real_replicas, self._spec.hosts,
                on_resolver=lambda name: self._recorder.put(tpu_named=name),
            )  # fmt: skip
            IteratorRelease(tf)
        else:
            TpuWatch(tf, self._recorder)
        self._gradients = GradientWatch(tf)
        self._gradients.on_traced_gradient = self._mark_training
        self._functions = FunctionWatch(tf, self._after_call)
        self._strategies = StrategyWatch(tf, self._functions.class_)
        self._strategies.after_eager_run = self._after_eager_run
        self._strategies.before_first_run = self._refuse_too_large
        if self._spec.lower_to:
            self._lowering = LoweringWatch(tf, self._gradients, self._recorder)
            if self._spec.requests >= 0:
                self._lowering.on_step = self._serve
        self._pipelines = PipelineWatch(tf)
        self._variables = VariableWatch(tf, self._after_large_variable)
        self._checkpoints = CheckpointWatch(
            tf, self._sandbox.original if self._sandbox is not None else lambda path: path
        )
        self._tf1 = Tf1Watch(tf)
        self._keras = KerasWatch(tf)
        self._steps = StepWatch(
            tf, self._spec.warmup_steps, self._spec.steps, self._spec.log_dir,
            on_first=self._first_step, on_stop=self._stop, on_swallowed=lambda: os._exit(0),
        )  # fmt: skip
        self._steps.budget_s = self._spec.budget_s
        for keras, package in self._early_keras:
            self.imported_keras(keras, package)
        self._recorder.phase(UP_TO_FIRST_STEP)

    def imported_keras(self, keras: Any, package: str) -> None:
        """A Keras is there; TensorFlow imports Keras 3 itself before it is whole."""
        if self._tf is None:
            self._early_keras.append((keras, package))
        else:
            if self._sandbox is not None:
                self._sandbox.watch_keras(keras)
            if self.fake_data is not None:
                self.fake_data.watch_keras(keras)
            self._keras.watch(keras, package)
            if self._spec.rehearse and package == "keras":
                self._keras.adapt_to_cpu_replicas(keras)
            self._checkpoints.watch_keras(keras)

    def _stop(self) -> None:
        """Enough was seen: send it all, so that nothing depends on how the job takes its end."""
        self.finish()
        self.stopped = True
        self._recorder.put(end=JobEnd("stopped"))

    def finish(self) -> None:
        """Close the profile and send all that is known; safe to call twice."""
        if self._steps is None:
            return
        self._recorder.phase("writing the profile")
        self._steps.close_profile()
        self._recorder.phase("reading what was seen")
        self._examine_step()
        if self._steps.steps and self._tf.executing_eagerly():
            self._pipelines.count()
        self._send()
        self._measure_input()
        if self._lowering is not None:
            self._lowering.lower_as_seen(self._spec, self._batch_seen)

    def _serve(self, lowering: LoweringWatch) -> None:
        """A training step was traced: lower it as often as is asked, and never run it."""
        inputs = self._strategies.last_inputs
        self._recorder.put(step_inputs=inputs, variables=self._variables.facts())
        lowering.serve(self._spec, self._batch(inputs))

    def _measure_input(self) -> None:
        """Once, after all else is sent: what the fixes of the input pipeline are worth."""
        assert self._steps is not None
        budget_s, self._input_budget_s = self._input_budget_s, 0.0
        if budget_s and self._steps.steps and self._tf.executing_eagerly():
            self._recorder.phase("measuring the input pipeline")
            self._pipelines.measure(budget_s)
            self._recorder.put(pipelines=self._pipelines.facts() or None)

    def _import_fact(self) -> TensorFlowImport:
        """The TensorFlow that was imported and its switches."""
        tf = self._tf
        return TensorFlowImport(
            succeeded=True,
            version=str(tf.__version__),
            tf2_behavior=tf2_enabled(),
            eager=bool(tf.compat.v1.executing_eagerly_outside_functions()),
            took_s=self._import_s,
        )

    def _mark_training(self) -> None:
        """A gradient is being traced: the function being called is a training step."""
        if self._functions.current is not None:
            self._functions.current.trains = True

    def _after_call(self, seen: Any, traced: bool) -> None:
        """An outermost tf.function has returned."""
        if seen.trains and self._steps is not None:
            self._step_done(False, len(seen.retraces) >= ENOUGH_RETRACES, traced)

    def _after_eager_run(self) -> None:
        """A strategy.run has returned that ran its function eagerly."""
        if self._gradients.eager_calls and self._steps is not None:
            self._step_done(eager=True)

    def _step_done(self, eager: bool, enough: bool = False, retraced: bool = False) -> None:
        """Training steps were dispatched and have returned."""
        assert self._steps is not None
        if self._steps.steps in (0, 1) and not eager:
            self._measure_steps_per_dispatch()
        self._pipelines.training_started = True
        self._steps.finished_dispatch(eager, enough, retraced)

    def _measure_steps_per_dispatch(self) -> None:
        """How far one dispatch moves the optimizer: more than 1 where a loop runs inside."""
        assert self._steps is not None
        now = self._keras.iterations()
        if now is not None and self._steps.steps == 0:
            self._steps.steps_per_dispatch = max(now, 1)

    def _after_large_variable(self) -> None:
        """A large variable was made: tell of it, as the next one may be too large to live."""
        self._recorder.put(variables=self._variables.facts())
        self._refuse_too_large()

    def _refuse_too_large(self) -> None:
        """While a model is built, and before its first step: one too large ends the try.

        The parent then starts the job again with the replicas that fit.
        """
        if not self._spec.rehearse or self._spec.real_replicas == 1:
            return
        fitting = host_memory.replicas_that_fit(self._variables.facts(), self._spec.real_replicas)
        if fitting < self._spec.real_replicas:
            self._recorder.put(fitting_replicas=fitting)
            os._exit(0)

    def _first_step(self) -> None:
        """The first training step is done: its graph can be read before timing begins."""
        self._examine_step()
        self._send()
        self._recorder.phase("warming up")

    def _examine_step(self) -> None:
        """Read the traced step, if gradients were traced since it was last read."""
        calls = self._gradients.calls
        if not calls or self._examined:
            return
        self._examined = True
        main = max(calls, key=lambda call: call.forward_operations)
        same = [call for call in calls if call.graph is main.graph]
        layer_line = self._keras.layers.line_of
        inputs = self._strategies.last_inputs or graphs.step_inputs(main)
        self._batch_seen = batch = self._batch(inputs)
        rows = batch.per_replica_batch if batch is not None else None
        products = {o.name: o for call in same for o in graphs.matrix_ops(call, layer_line, rows)}
        self._recorder.put(
            matrix_ops=tuple(products.values()),
            activations=graphs.activations(main),
            step_ops=graphs.step_ops(main),
            step_inputs=inputs,
        )
        if batch is not None:
            averaged = self._gradients.reduced_by_mean
            self._recorder.put(batch=batch, loss=loss.scales(self._tf, same, batch, averaged))

    def _batch(self, inputs: tuple[TensorSeen, ...]) -> Batch | None:
        """The batch that reaches one replica, and so the global one."""
        return batch_of(
            inputs, self._pipelines.facts(), self._strategies.replicas or 1, self._keras.fit_at
        )

    def _send(self) -> None:
        """Send the facts that grow while the job runs."""
        assert self._steps is not None
        steps = self._steps
        times = steps.profiled_ms or steps.times_ms
        self._recorder.put(
            functions=self._functions.facts(),
            pipelines=self._pipelines.facts() or None,
            variables=self._variables.facts(),
            tf1=self._tf1.facts(),
            keras=self._keras.facts(),
            precision=self._keras.precision(),
            checkpoints=Checkpoints(self._checkpoints.facts()),
            tensorflow=self._import_fact(),
            steps=StepTimes(tuple(times), None, "job, under tf.profiler") if times else None,
            cut_to_steps=steps.cut_to,
            unprofiled_step_ms=tuple(steps.times_ms),
            dispatch=self._dispatch(),
            strategy_replicas=self._strategies.most_replicas,
        )

    def _dispatch(self) -> Dispatch | None:
        """How steps reach the device; None before the first step."""
        assert self._steps is not None
        if not self._steps.steps:
            return None
        eager_location = self._strategies.eager_location or self._gradients.eager_location
        return Dispatch(
            steps=self._steps.steps,
            steps_per_dispatch=self._keras.steps_at_once(self._steps.steps_per_dispatch),
            eager_steps=self._steps.eager_steps,
            eager_location=eager_location if self._steps.eager_steps else None,
            run_eagerly=self._keras.run_eagerly(),
            compiled_at=self._keras.compiled_at(),
            made_eager_at=self._functions.made_eager_at,
        )
