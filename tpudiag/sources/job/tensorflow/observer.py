"""Puts the hooks on TensorFlow and Keras, and turns what they saw into facts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tpudiag.signals import (
    Batch,
    Checkpoints,
    CoverageEnd,
    Dispatch,
    JobEnd,
    MatrixOp,
    StepTimes,
    TensorFlowImport,
    TensorSeen,
    VariableSeen,
)
from tpudiag.sources.job.process import host_memory
from tpudiag.sources.job.process.protocol import REST, UP_TO_FIRST_STEP, JobSpec, Recorder
from tpudiag.sources.job.tensorflow import (
    barrier,
    graphs,
    hooks,
    keras_backend,
    loss,
    matrix_products,
    tpu_stubs,
    user_lines,
)
from tpudiag.sources.job.tensorflow.batches import batch_of
from tpudiag.sources.job.tensorflow.checkpoints import CheckpointWatch
from tpudiag.sources.job.tensorflow.fake_data.install import FakeData
from tpudiag.sources.job.tensorflow.functions import FunctionWatch
from tpudiag.sources.job.tensorflow.iterators import IteratorRelease
from tpudiag.sources.job.tensorflow.keras import KerasWatch
from tpudiag.sources.job.tensorflow.lowering import LoweringWatch
from tpudiag.sources.job.tensorflow.pipelines import PipelineWatch
from tpudiag.sources.job.tensorflow.same_numbers import SameNumbers
from tpudiag.sources.job.tensorflow.sandbox import RemoteSandbox, Sandbox
from tpudiag.sources.job.tensorflow.steps import StepWatch
from tpudiag.sources.job.tensorflow.strategies import StrategyWatch
from tpudiag.sources.job.tensorflow.tf1 import Tf1Watch, tf2_enabled
from tpudiag.sources.job.tensorflow.tpu import TpuWatch
from tpudiag.sources.job.tensorflow.tpu_system import TpuSystem
from tpudiag.sources.job.tensorflow.training import GradientCall, GradientWatch
from tpudiag.sources.job.tensorflow.training_loop import LoopWatch
from tpudiag.sources.job.tensorflow.variables import VariableWatch
from tpudiag.sources.job.tensorflow.whole_script import WholeScript
from tpudiag.sources.job.tensorflow.wide_convolutions import SLOWER, WideConvolutions

REST_S = 60.0
ENOUGH_RETRACES = 6
"""A step that was traced again so often need not be watched longer: each trace takes seconds."""
TOLD_AFTER = (6, 12)
"""Steps after which what was seen of the loop is sent, as a loop that starts its input anew at each
step may end in an abort of TensorFlow's."""


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
        self._whole: WholeScript | None = None
        self._finishing, self._finished = threading.RLock(), False
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
        spec = self._spec
        if spec.rehearse:
            tpu_stubs.install(
                tf, TpuSystem(spec.replicas, spec.hosts, spec.devices_per_chip),
                spec.real_replicas, on_resolver=lambda name: self._recorder.put(tpu_named=name),
            )  # fmt: skip
            IteratorRelease(tf)
            if not spec.lower_to:  # what is compiled is the step as the job has it
                WideConvolutions(tf)
        else:
            TpuWatch(tf, self._recorder)
        self._gradients = GradientWatch(tf)
        self._gradients.on_traced_gradient = self._mark_training
        self._gradients.on_first_replica = self._refuse_too_slow
        self._functions = FunctionWatch(tf, self._after_call)
        self._strategies = StrategyWatch(tf, self._functions.class_)
        self._strategies.after_eager_run = self._after_eager_run
        self._strategies.on_run = self._mark_replicated
        self._strategies.before_first_run = self._refuse_too_large
        if self._spec.lower_to:
            self._lowering = LoweringWatch(tf, self._gradients, self._recorder)
            self._functions.after_training = self._lowering.trained_alone
            if self._spec.requests >= 0:
                self._lowering.on_step = self._serve
        self._pipelines = PipelineWatch(tf)
        self._functions.before_call = self._pipelines.feeds.calling
        self._strategies.before_eager_run = self._pipelines.feeds.calling
        self._variables = VariableWatch(tf, self._after_large_variable, write=spec.requests < 0)
        self._checkpoints = CheckpointWatch(
            tf, self._sandbox.original if self._sandbox is not None else lambda path: path
        )
        if spec.rehearse and spec.requests < 0:
            self._whole = WholeScript(
                tf, spec.rest_s or REST_S, self._functions, self._strategies, self._variables,
                steps_seen=lambda: self._gradients.taken + self._strategies.runs,
                on_hard_end=self._end_hard,
            )  # fmt: skip
        self._tf1 = Tf1Watch(tf)
        self._keras = KerasWatch(tf)
        self._loop = LoopWatch(tf, self._gradients)
        self._loop.state.methods = self._keras.own_methods
        self._numbers = SameNumbers(tf, spec.seed) if spec.seed >= 0 else None
        if self._numbers is not None:
            self._variables.on_trained = self._numbers.made
            self._loop.results.on_step = self._numbers.step_done
        self._steps = StepWatch(
            tf, self._spec.warmup_steps, self._spec.steps, self._spec.log_dir,
            on_first=self._first_step, on_stop=self._stop, on_swallowed=lambda: os._exit(0),
            on_step=lambda done, total: self._recorder.put(steps_done=[done, total]),
        )  # fmt: skip
        self._steps.budget_s = self._spec.budget_s
        for keras, package in self._early_keras:
            self.imported_keras(keras, package)
        self._recorder.phase(UP_TO_FIRST_STEP)

    def imported_keras(self, keras: Any, package: str) -> None:
        """A Keras is there; TensorFlow imports Keras 3 itself before it is whole."""
        hooks.quietly(keras_backend.watch, keras, self._recorder)
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
            if self._whole is not None:
                self._whole.epochs.watch(keras)
            self._loop.watch_keras(keras, package)

    def _stop(self) -> bool:
        """Enough steps were seen: send what is known, and go on where the rest is wanted too."""
        self._look()
        if self._whole is not None and self._spec.rest_s > 0:
            self._recorder.phase(REST)
            self._loop.at_rest = True
            self._whole.begin()
            self._variables.closed = True
            return True
        if self._whole is not None:
            self._whole.stuck()
        self.finish("first loop")
        self.stopped = True
        self._recorder.put(end=JobEnd(how="stopped"))
        return False

    def _end_hard(self) -> None:
        """The time for the rest is over and the job does not end: on a thread of its own."""
        if self._whole is not None:
            self._whole.stuck()
        self.finish("budget")
        self._recorder.put(end=JobEnd(how="stopped"))
        os._exit(0)

    def ended(self, error: BaseException | None, end: CoverageEnd) -> None:
        """The job has ended, whatever by; sends all that is known."""
        if self._whole is not None:
            barrier.attempt("main flow", self._whole.ended_by, error)
        self.finish(end)

    def _look(self) -> None:
        """Close the profile, read the step and send what is known by now."""
        assert self._steps is not None
        self._recorder.phase("writing the profile")
        barrier.attempt("profile", self._steps.close_profile)
        self._recorder.phase("reading what was seen")
        barrier.attempt("step", self._examine_step)
        if self._numbers is not None and self._steps.steps:
            numbers, steps = self._numbers, self._steps.steps
            self._numbers = None  # once, at the last observed step
            self._put_each(trained=lambda: numbers.facts(steps))
        self._send()

    def finish(self, end: CoverageEnd = "whole") -> None:
        """Send all that is known and measure what is left to measure; the second call waits."""
        with self._finishing:
            if self._steps is None or self._finished:
                return
            self._finished = True
            if self._steps.steps and self._tf.executing_eagerly():
                barrier.attempt("records of the pipelines", self._pipelines.count)
            self._look()
            if self._whole is not None:
                whole = self._whole
                self._put_each(coverage=lambda: whole.coverage(end))
            barrier.attempt("speed of the pipelines", self._measure_input)
            if self._lowering is not None:
                barrier.attempt(
                    "lowering", self._lowering.lower_as_seen, self._spec, self._batch_seen
                )
            self._recorder.put(hook_defects=barrier.defects())

    def _serve(self, lowering: LoweringWatch) -> None:
        """A training step was traced: lower it as often as is asked, and never run it."""
        assert lowering.step is not None
        inputs = self._strategies.last_inputs
        if not inputs and self._gradients.calls:
            inputs = graphs.step_inputs(self._gradients.calls[-1])
        self._recorder.put(
            step_inputs=inputs, variables=self._variables.facts(), alone=lowering.step.alone,
            sources=user_lines.user_files(),
        )  # fmt: skip
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

    def _mark_replicated(self) -> None:
        """A step is run on replicas: by the function being called, if there is one."""
        if self._functions.current is not None:
            self._functions.current.replicated = True

    def _after_call(self, seen: Any, traced: bool) -> None:
        """An outermost tf.function has returned."""
        self._pipelines.feeds.called(seen.trains)
        if seen.trains and self._steps is not None:
            self._step_done(False, len(seen.retraces) >= ENOUGH_RETRACES, traced)

    def _after_eager_run(self) -> None:
        """A strategy.run has returned that ran its function eagerly."""
        self._pipelines.feeds.called(bool(self._gradients.eager_calls))
        if self._gradients.eager_calls and self._steps is not None:
            self._step_done(eager=True)

    def _step_done(self, eager: bool, enough: bool = False, retraced: bool = False) -> None:
        """Training steps were dispatched and have returned."""
        assert self._steps is not None
        if self._steps.steps in (0, 1) and not eager:
            self._measure_steps_per_dispatch()
        if self._steps.steps in TOLD_AFTER:
            self._recorder.put(loop=hooks.quietly(self._loop.facts))
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
        if not self._spec.rehearse or self._spec.requests >= 0:
            return
        if self._spec.real_replicas == 1:
            self._refuse_one()
            return
        fitting = host_memory.replicas_that_fit(self._variables.facts(), self._spec.real_replicas)
        if fitting < self._spec.real_replicas:
            self._recorder.put(fitting_replicas=fitting)
            os._exit(0)

    def _refuse_one(self) -> None:
        """The only replica is too large: that is said while there is memory to say it."""
        short = host_memory.shortage(self._variables.facts(), host_memory.available_bytes())
        if short is not None:
            self._recorder.put(end=JobEnd(how="unsupported", error=short))
            os._exit(0)

    def _refuse_too_slow(self, call: GradientCall) -> None:
        """Replica 0 has traced its forward pass: one too slow for so many replicas ends the try."""
        self._gradients.on_first_replica = lambda _: None
        spec = self._spec
        if not spec.rehearse or spec.real_replicas == 1 or spec.requests >= 0:
            return
        pipelines = [replace(p, trains=True) for p in self._pipelines.facts() if p.distributed]
        batch = batch_of(
            self._strategies.last_inputs, pipelines, self._strategies.replicas or 1, None
        )
        if batch is None:
            return
        products = matrix_products.matrix_ops(call, lambda _: None, batch.per_replica_batch)
        flops = sum(self._cpu_flops(product) for product in products if product.forward)
        in_time = host_memory.replicas_in_time(flops, spec.real_replicas, os.cpu_count() or 1)
        if in_time < spec.real_replicas:
            self._recorder.put(fitting_replicas=in_time)
            os._exit(0)

    def _cpu_flops(self, product: MatrixOp) -> float:
        """What a product costs a CPU; a convolution in 16 bits is slow, unless it was widened."""
        slow = self._spec.lower_to and product.op.startswith("Conv") and "16" in product.dtype
        return product.flops * (SLOWER if slow else 1.0)

    def _first_step(self) -> None:
        """The first training step is done: its graph can be read before timing begins."""
        barrier.attempt("step", self._examine_step)
        self._send()
        self._recorder.phase("observing steps")

    def _examine_step(self) -> None:
        """Read the traced step, if gradients were traced since it was last read."""
        calls = self._gradients.calls
        if not calls or self._examined:
            return
        self._examined = True
        main = max(calls, key=lambda call: call.forward_operations)
        same = [call for call in calls if call.graph is main.graph]
        inputs = self._strategies.last_inputs or graphs.step_inputs(main)
        self._batch_seen = batch = self._batch(inputs)
        self._put_each(
            matrix_ops=lambda: self._matrix_ops(same, batch),
            activations=lambda: graphs.activations(main),
            step_ops=lambda: graphs.step_ops(main),
            step_inputs=lambda: inputs,
            numerics=lambda: self._loop.numerics(main, self._keras.layers.line_of),
        )
        if batch is not None:
            averaged = self._gradients.reduced_by_mean
            self._put_each(
                batch=lambda: batch, loss=lambda: loss.scales(self._tf, same, batch, averaged)
            )

    def _matrix_ops(self, calls: list[GradientCall], batch: Batch | None) -> tuple[Any, ...]:
        """The matrix products of the step, each once."""
        layer_line = self._keras.layers.line_of
        rows = batch.per_replica_batch if batch is not None else None
        products = {
            o.name: o for call in calls for o in matrix_products.matrix_ops(call, layer_line, rows)
        }
        return tuple(products.values())

    def _put_each(self, **facts: Callable[[], object]) -> None:
        """Send the facts that can be had; one that cannot keeps back no other."""
        for name, fact in facts.items():
            value = barrier.attempt(name, fact)
            if value is not None:
                self._recorder.put(**{name: value})

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
            steps=StepTimes(
                step_ms=tuple(times), input_wait_ms=None, source="job, under tf.profiler"
            )
            if times
            else None,
            cut_to_steps=steps.cut_to,
            unprofiled_step_ms=tuple(steps.times_ms),
            strategy_replicas=self._strategies.most_replicas,
            hook_defects=barrier.defects(),
        )
        self._put_each(
            functions=self._functions.facts,
            pipelines=lambda: self._pipelines.facts() or None,
            variables=self._variable_facts,
            tf1=self._tf1.facts,
            keras=self._keras.facts,
            precision=self._keras.precision,
            checkpoints=lambda: Checkpoints(self._checkpoints.facts()),
            tensorflow=self._import_fact,
            dispatch=self._dispatch,
        )
        if not (self._whole is not None and self._whole.began):
            self._put_each(loop=self._loop.facts)  # past the observed steps calls are forwarded

    def _variable_facts(self) -> tuple[VariableSeen, ...]:
        """The variables, and which of them steps train."""
        self._variables.trains(v for call in self._gradients.calls for v in call.sources)
        return self._variables.facts()

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
