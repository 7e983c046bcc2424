"""The observation of a job after its TensorFlow import: its steps, its end, and the facts sent."""

import os
import threading
import time
from collections.abc import Callable
from functools import partial

from tpudiag.signals import CoverageEnd, JobEnd, TensorFlowImport
from tpudiag.sources.job.points import Library, barrier, hooks, interventions, user_lines
from tpudiag.sources.job.points.steps import StepWatch
from tpudiag.sources.job.process.protocol import REST, JobSpec, Recorder
from tpudiag.sources.job.tensorflow import fitting_replicas, job_facts
from tpudiag.sources.job.tensorflow.graphs.lowering import LoweringWatch, StepCall
from tpudiag.sources.job.tensorflow.shortening.whole_script import WholeScript
from tpudiag.sources.job.tensorflow.step_reader import StepReader
from tpudiag.sources.job.tensorflow.watch_order import Watches
from tpudiag.sources.job.tensorflow.watches.function_record import FunctionRecord

ENOUGH_RETRACES = 6
"""A step that was traced again so often need not be watched longer: each trace takes seconds."""
TOLD_EVERY_S = 20.0
"""How often what was seen is sent until there is a step."""
TOLD_BEFORE_S, TOLD_BEFORE_SHARE = 15.0, 0.2
"""How long before a job is ended for its time is over what was seen of it is sent, at most."""
ELSEWHERE = 0.4
"""Of the time for the input of a job whose steps are those of JAX."""
TOLD_AFTER = (6, 12)
"""Steps after which what was seen of the loop is sent, as a loop that starts its input anew at each
step may end in an abort of TensorFlow's."""


class Observation:
    """Counts the job's steps, stops it when enough was observed, and sends the facts."""

    def __init__(
        self,
        tf: Library,
        spec: JobSpec,
        recorder: Recorder,
        script_path: Callable[[object], object],
        imported: Callable[[], TensorFlowImport],
    ) -> None:
        """Install all watches; TensorFlow has not run anything yet.

        `script_path` returns the script's own path of a redirected file.
        """
        self._tf, self._spec, self._recorder, self._imported = tf, spec, recorder, imported
        self._input_budget_s = spec.measure_input_s
        self.has_stand_ins: Callable[[], bool] = lambda: False
        """Whether synthetic data is used, whose speed says nothing of the job's."""
        self._heavy: list[str] = []
        self._pauses = 0
        self._finishing = threading.RLock()
        self.finished = self.stopped = False
        self._steps = StepWatch(
            tf,
            spec.warmup_steps,
            spec.steps,
            spec.log_dir,
            on_first=self._first_step,
            on_stop=self._stop,
            on_swallowed=lambda: os._exit(0),
            on_step=lambda done, total: recorder.put(steps_done=[done, total]),
        )
        self._steps.budget_s = spec.budget_s
        self.watches = Watches(tf, spec, recorder, script_path, self._end_hard, self._not_run)
        self.watches.functions.after_call = self._after_call
        self.watches.variables.after_large = self._after_large_variable
        self.watches.strategies.after_eager_run = self._after_eager_run
        self.watches.gradients.after_eager_step = self._after_eager_step
        self.watches.strategies.before_first_run = self._before_first_run
        self.watches.gradients.on_first_replica = partial(
            fitting_replicas.judge_speed, tf, spec, self.watches
        )
        lowering = self.watches.lowering
        if lowering is not None and spec.requests >= 0:
            lowering.on_step = partial(self._serve, lowering)
        self._numbers = self.watches.numbers
        self._reader = StepReader(tf, self.watches, recorder)
        if self.watches.heavy is not None:
            self.watches.heavy.batch = self._reader.batch_per_replica
        self._told = threading.Event()
        if spec.ends_in_s:
            threading.Thread(target=self._tell_early, name="tpudiag-early", daemon=True).start()

    def trained(self) -> bool:
        """Whether a training step was seen."""
        return self._steps.steps > 0

    def ended(self, error: BaseException | None, end: CoverageEnd) -> None:
        """The job ended in any way; send everything known."""
        if self.watches.whole is not None:
            barrier.attempt("main flow", self.watches.whole.ended_by, error)
        self.finish(end)

    def _tell_early(self) -> None:
        """Send what was seen of a job that may come to no step, again and again.

        It may be killed, or ended for its time is over: that is judged all the same. On a thread of
        its own: a step may still be traced, so that it is read at the last moment alone.
        """
        ends_in_s = self._spec.ends_in_s
        last = time.monotonic() + ends_in_s - min(TOLD_BEFORE_S, TOLD_BEFORE_SHARE * ends_in_s)
        while (left_s := last - time.monotonic()) > 0:
            if self._told.wait(min(TOLD_EVERY_S, left_s)):
                return
            with self._finishing:
                job_facts.send(
                    self._recorder, self.watches, self._steps, self._imported, barrier.send_known
                )
        with self._finishing:
            if not self.finished:
                barrier.attempt("step", self._reader.read)
                self._send()

    def _tell_so_far(self, whole: WholeScript) -> None:
        """Send how much of the script ran by now."""
        with self._finishing:
            if not self.finished:
                far = partial(whole.coverage, "crash", so_far=True)
                barrier.send_known(self._recorder.put, coverage=far)

    def finish(self, end: CoverageEnd = "whole") -> None:
        """Send all that is known and measure what is left to measure; the second call waits."""
        self._told.set()
        with self._finishing:
            if self.finished:
                return
            self.finished = True
            if self._steps.steps and self._tf.executing_eagerly():
                barrier.attempt("records of the pipelines", self.watches.pipelines.count)
            # Facts are sent first: measuring may hang, and lowering may crash the process.
            self._send_seen()
            barrier.attempt("steps of other loops", self._reader.read_others)
            whole, lowering = self.watches.whole, self.watches.lowering
            if whole is not None:
                barrier.send_each(self._recorder.put, coverage=lambda: whole.coverage(end))
            barrier.attempt("speed of the pipelines", self._measure_input)
            if lowering is not None:
                barrier.attempt("shapes of the examples", self._report_shapes, lowering)
                barrier.attempt("lowering", lowering.lower_as_seen, self._spec, self._reader.batch)
            self._recorder.put(hook_defects=barrier.defects(), misfits=interventions.misfits())

    def _report_shapes(self, lowering: LoweringWatch) -> None:
        """Report sizes that the data leaves open but that were equal in all elements read."""
        feeding = [pipeline for pipeline in self.watches.pipelines.facts() if pipeline.trains]
        alike = [pipeline.shapes[0] for pipeline in feeding if len(pipeline.shapes) == 1]
        lowering.shapes = tuple(shape for shapes in alike for shape in shapes)

    def _after_call(self, function: FunctionRecord, traced: bool) -> None:
        self.watches.pipelines.feeds.called(function.trains)
        if function.trains:
            if function.skipped:
                self._steps.only_traced()
                self.watches.loop.pauses.only_traced = True
            enough = len(function.retraces) >= ENOUGH_RETRACES
            self._step_done(eager=False, enough=enough, traced=traced)

    def _after_eager_run(self, function: object, took_ms: float) -> None:
        """A strategy.run returned that ran its function eagerly: it trains, or evaluates."""
        trains = bool(self.watches.gradients.eager_calls)
        self.watches.pipelines.feeds.called(trains)
        if trains:
            self._step_done(eager=True)
        else:
            code = getattr(function, "__code__", function)
            pauses, line = self.watches.loop.pauses, user_lines.caller()
            hooks.quietly(partial(pauses.evaluated, eager=True), code, took_ms, line)

    def _after_eager_step(self) -> None:
        """A loop of the job's own trains without a function or a strategy."""
        functions = self.watches.functions
        inside = (
            self.watches.strategies.in_replica() or functions.current or functions.made_eager_at
        )
        if not inside:
            self.watches.pipelines.feeds.called(trains=True)
            self._step_done(eager=True)

    def _after_large_variable(self) -> None:
        """A large variable was made: report it, as the next one may exceed the memory."""
        self._recorder.put(variables=self.watches.variables.facts())
        self._before_first_run()

    def _before_first_run(self) -> None:
        """A model grows or is about to run: check whether this machine can hold it."""
        fitting_replicas.end_if_too_large(self._spec, self.watches, self._recorder)

    def _step_done(self, eager: bool, enough: bool = False, traced: bool = False) -> None:
        steps = self._steps
        if steps.steps == 0 and not eager:
            moved = self.watches.keras.steps_of_first_call()
            if moved is not None:  # more than 1 where a loop runs inside the dispatch
                loops = self.watches.whole and self.watches.whole.loops
                steps.steps_per_dispatch = max(moved, loops.turns if loops and not moved else 1)
        if steps.steps in TOLD_AFTER:
            self._recorder.put(loop=hooks.quietly(self.watches.loop.facts))
        pauses, self._pauses = self._pauses, self.watches.loop.pauses.ended
        steps.finished_dispatch(eager, enough, unusual=traced or pauses != self._pauses)

    def _not_run(self, which: str) -> None:
        """A function is too heavy for this machine; its trace answers for it."""
        self._heavy.append(which)
        self._recorder.put(not_run=self._heavy)
        self._recorder.phase(f"going on with {which.partition(' at ')[0]} traced, not run")

    def _first_step(self) -> None:
        self._told.set()
        barrier.attempt("step", self._reader.read)
        self._send()
        self._recorder.phase("observing steps")

    def _stop(self) -> bool:
        self._send_seen()
        whole = self.watches.whole
        if whole is not None and self._spec.rest_s > 0:
            self._recorder.phase(f"{REST}{hooks.quietly(whole.plan) or ''}")
            self.watches.loop.rest()
            whole.deadline.tell = partial(self._tell_so_far, whole)
            whole.begin()
            self.watches.variables.closed = True
            return True
        if whole is not None:
            whole.stuck()
        self.finish("first loop")
        self.stopped = True
        self._recorder.put(end=JobEnd(how="stopped"))
        return False

    def _end_hard(self) -> None:
        """The time for the rest is over and the job does not end: called on a thread of its own."""
        if self.watches.whole is not None:
            self.watches.whole.stuck()
        self.finish("budget")
        self._recorder.put(end=JobEnd(how="stopped"))
        os._exit(0)

    def _send_seen(self) -> None:
        self._recorder.phase("writing the profile")
        barrier.attempt("profile", self._steps.close_profile)
        self._recorder.phase("reading what was seen")
        barrier.attempt("step", self._reader.read)
        numbers, steps = self._numbers, self._steps.steps
        if numbers is not None and steps:
            self._numbers = None  # once, at the last observed step
            barrier.send_each(self._recorder.put, trained=lambda: numbers.facts(steps))
        self._send()

    def _send(self) -> None:
        job_facts.send(self._recorder, self.watches, self._steps, self._imported)

    def _serve(self, lowering: LoweringWatch, step: StepCall) -> None:
        """A training step was traced: lower it for each request, and never run it."""
        inputs = self._reader.inputs()
        self._recorder.put(
            step_inputs=inputs,
            variables=self.watches.variables.facts(),
            alone=step.alone,
            sources=user_lines.user_files(),
        )
        lowering.serve(self._spec, self._reader.batch_of(inputs))

    def _measure_input(self) -> None:
        """Measure the gain of input pipeline fixes, once, after all facts were sent."""
        budget_s, self._input_budget_s = self._input_budget_s, 0.0
        if self.has_stand_ins():
            return
        pipelines = self.watches.pipelines
        if not self._steps.steps:
            budget_s = budget_s * ELSEWHERE if pipelines.feeds.training() else 0.0
        if budget_s and self._tf.executing_eagerly():
            self._recorder.phase("measuring the input pipeline")
            pipelines.measure(budget_s)
            self._recorder.put(pipelines=pipelines.own() or None)
