"""Follows a job that imports JAX: counts its steps, ends it at the last, sends the facts."""

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tpudiag.signals import CoverageEnd, Framework, JobEnd
from tpudiag.sources.job.jax import jitted_holes, too_large
from tpudiag.sources.job.jax.devices import Devices
from tpudiag.sources.job.jax.eager_operations import EagerOperations
from tpudiag.sources.job.jax.fetches import FetchWatch
from tpudiag.sources.job.jax.jit_watch import JitWatch
from tpudiag.sources.job.jax.jitted import StepCall
from tpudiag.sources.job.jax.numbers_seen import NumbersSeen
from tpudiag.sources.job.jax.reader import StepReader
from tpudiag.sources.job.jax.script_remainder import RestOfScript
from tpudiag.sources.job.jax.seen import Seen
from tpudiag.sources.job.jax.sends import SendWatch
from tpudiag.sources.job.jax.step import TracedStep
from tpudiag.sources.job.points import Library, Watches, barrier, hooks, privates, table, user_lines
from tpudiag.sources.job.points.barrier import send_each
from tpudiag.sources.job.points.steps import StepWatch, StopObservation
from tpudiag.sources.job.process.protocol import REST, UP_TO_FIRST_STEP, JobSpec, Recorder
from tpudiag.sources.job.tensorflow.observer import Observer
from tpudiag.sources.job.tensorflow.watches import keras_backend
from tpudiag.sources.job.tensorflow.watches.checkpoints import CheckpointWatch

ENOUGH_COMPILATIONS = 6
"""A step that was compiled again so often need not be watched longer."""
SENT_EACH_S = 5.0
"""How much of what was seen a job that is ended takes with it."""


class JaxObserver:
    """What is told of the import of JAX, and of the job's end."""

    def __init__(self, spec: JobSpec, recorder: Recorder, beside: Observer) -> None:
        """`beside` looks at what the job has of TensorFlow: most often its input."""
        self._spec, self._recorder, self._beside = spec, recorder, beside
        self._jax: Any = None
        self._is_own = spec.of_jax
        """Whether the job's own code, and no library of TensorFlow's, imported it."""
        self._devices = Devices(spec.replicas, spec.hbm_bytes)
        self._jits = JitWatch(self._step_done)
        self._jits.waits = spec.rehearse
        if spec.rehearse and spec.rest_s > 0:
            self._jits.rest = RestOfScript(spec.rest_s, self._end_hard)
        if spec.seed >= 0:
            self._jits.numbers = NumbersSeen()
        self._steps = StepWatch(
            None,
            spec.warmup_steps,
            spec.steps,
            "",
            on_first=partial(recorder.phase, "observing steps"),
            on_stop=self._stop,
            on_swallowed=lambda: os._exit(0),
            on_step=lambda done, total: recorder.put(steps_done=[done, total]),
        )
        self._steps.budget_s = spec.budget_s
        self._fetches = FetchWatch(lambda: self._steps.steps, self._jits.step_calls)
        self._jits.on_results = lambda made: self._fetches.stepped(made, spec.rehearse)
        self._jits.on_first_call = self._about_to_run
        self._checkpoints = CheckpointWatch(beside.script_path)
        self._checkpoints.on_saved = self._fetches.saved
        self._eager = EagerOperations()
        self._jits.on_answer = self._eager.answered
        self._jits.on_operation_compiled = self._eager.compiled
        self._sends = SendWatch(lambda: self._steps.steps)
        self._reader = StepReader(spec, recorder, self._fetches, self._sends)
        self._seen = Seen(
            beside, self._jits, self._steps, self._reader, self._fetches, self._checkpoints,
            self._eager, spec.rehearse,
        )  # fmt: skip
        self._finished = self.stopped = False
        self._sent_at = 0.0
        self._compiled = 0

    def importing(self) -> None:
        """JAX is about to be imported."""
        # A library may import JAX in a job of TensorFlow's, whose XLA reads the same flags.
        self._is_own = self._spec.of_jax or "tensorflow" not in sys.modules
        if self._spec.of_jax:
            # At once: a process that dies says nothing at its end.
            self._recorder.put(framework=Framework.JAX)
        if self._is_own:
            self._recorder.phase("importing JAX")
            if self._spec.rehearse:
                self._devices.importing()

    def imported(self, jax: Any) -> None:
        """JAX is there, and no device was asked for yet."""
        self._jax = jax
        if self._is_own and self._spec.rehearse:
            self._devices.watch(jax)
        self._jits.watch(jax)
        if self._beside.fake_data is not None:
            self._jits.fills = partial(jitted_holes.filled, jax)
            jitted_holes.watch(jax)
            self._beside.fake_data.statements.trained.append(lambda: self.trained)
        self._fetches.watch(jax)
        self._sends.watch(jax)
        self._eager.watch(jax)
        if self._is_own:
            self._recorder.phase(UP_TO_FIRST_STEP)

    def by_module(self) -> Watches:
        """What is to be told of the import of which module, besides JAX."""
        watches: Watches = {
            privates.KERNELS: self._devices.interpret,
            "orbax.checkpoint": lambda _: self._checkpoints.watch_orbax(),
            "flax.training.checkpoints": lambda _: self._checkpoints.watch_flax(),
            "optax": self._seen.rates.watch,
        }
        if self._beside.fake_data is not None:
            watches["flax.linen"] = jitted_holes.fill_modules
        return watches

    def imported_keras(self, keras: Any) -> None:
        """A Keras is there, of whichever framework."""
        if hooks.quietly(keras_backend.name_of, keras) == "jax":
            self._reader.keras = os.path.dirname(keras.__file__)  # noqa: PTH120
            self._checkpoints.watch_keras(keras)
            self._reader.layouts.watch_keras(keras)
            self._seen.pauses.watch_keras(keras)
            self._seen.monitors.watch_keras(keras)
            self._jits.on_lasted = self._seen.lasted
            hooks.before(table.FIT, self._fits, keras)

    def _fits(self, *given: Any, **named: object) -> None:
        data = named.get("x", *given[1:2])
        reads = data if hasattr(data, "gi_code") else getattr(type(data), "__getitem__", None)
        self._reader.fits[user_lines.caller()] = user_lines.of_function(reads)
        self._seen.fitted = given[:1]
        if self._beside.observation is not None:
            self._beside.observation.watches.loop.setup.fit_begins(*given, **named)

    @property
    def trained(self) -> bool:
        """Whether a training step was seen."""
        return self._steps.steps > 0

    @property
    def time_over(self) -> bool:
        """Whether the job was told to end, for its time was over."""
        return self._jits.rest is not None and self._jits.rest.deadline.spent

    def ended(self, error: BaseException | None, end: CoverageEnd) -> None:
        """The job has ended, whatever by; sends all that is left to say."""
        self._finish()
        rest = self._jits.rest
        if rest is not None and self.trained:
            self._read_step(self._reader.past_the_end)
            self._seen.whole = end == "whole" and error is None
            records = self._jits.records.values()
            # The rest of the script tells what its input takes, what it saves, and of a ragged
            # last batch; what TensorFlow saw of its own, none of them a step, is not the job's.
            send_each(
                self._recorder.put,
                coverage=lambda: rest.coverage(end, error, records),
                **self._seen.of_steps(),
                checkpoints=self._seen.saved,
            )

    def _end_hard(self) -> None:
        """The time for the rest is over and the job does not end: on a thread of its own."""
        self.ended(None, "budget")
        self._recorder.put(end=JobEnd(how="stopped"))
        os._exit(0)

    def _finish(self) -> None:
        """Send all that was seen up to now; once."""
        if self._jax is None or self._finished:
            return
        self._finished = True
        # A library may import JAX in a job of TensorFlow's.
        if self.trained:
            self._send_seen()
            # A job that is cut may save later on.
            send_each(self._recorder.put, checkpoints=self._seen.saved)
            if self._jits.numbers is not None:
                send_each(self._recorder.put, trained=self._jits.numbers.facts)
            self._serve()
            self._read_step(self._reader.at_the_end)
            if self._reader.at_once > 1:
                self._send_seen()
        if self._devices.processes_asked:
            self._recorder.put(several_processes=True)

    def _send_seen(self) -> None:
        """What was seen of the steps up to now."""
        self._sent_at = time.monotonic()
        self._recorder.put(framework=Framework.JAX)
        programs = partial(self._seen.programs, self._jax)
        send_each(self._recorder.put, **self._seen.of_steps(), programs=programs)

    def _read_step(self, read: Callable[[Library, StepCall], None]) -> None:
        """Read the step as it is in the end, or for a plan."""
        call = self._jits.kept.step
        if call is not None:
            barrier.attempt("step of JAX", read, self._jax, call)

    def _about_to_run(self, call: StepCall) -> None:
        """A step is about to run first: one that this machine cannot run is only read."""
        step = barrier.attempt("step of JAX", TracedStep, self._jax, call)
        if step is None:
            return
        why = barrier.attempt("size of the step", too_large.why, step)
        if not why:
            if self._is_own and self._spec.requests < 0 and not self.trained:
                self._recorder.put(framework=Framework.JAX)
                barrier.attempt("step of JAX", self._reader.send, step)
            return
        self._jits.kept.step, self._finished, self.stopped = call, True, True
        self._recorder.put(framework=Framework.JAX, step_not_run=why)
        self._serve()
        self._read_step(self._reader.at_the_end)
        barrier.attempt("what TensorFlow did", self._beside.ended, None, "first loop")
        self._recorder.put(end=JobEnd(how="stopped"))
        raise StopObservation

    def _step_done(self, eager: bool) -> None:
        """A training step was dispatched, or its gradients were taken eagerly."""
        step = self._jits.kept.step
        # Of the second call it is known which of its arguments the first one gave.
        if step is not None and step.calls > 1:
            self._serve()
            barrier.attempt("step of JAX", self._reader.while_it_trains, self._jax, step)
        enough = step is not None and len(step.record.retraces) >= ENOUGH_COMPILATIONS
        barrier.attempt("input of the step", self._beside.trained_elsewhere)
        barrier.attempt("loop of the step", self._eager.stepped)
        compiled, self._compiled = self._compiled, self._jits.compilations
        self._steps.finished_dispatch(eager, enough, unusual=compiled != self._compiled)
        if not self._finished and time.monotonic() - self._sent_at > SENT_EACH_S:
            self._send_seen()

    def _stop(self) -> bool:
        """Enough was seen: the job ends here."""
        if self._jits.rest is not None:
            self._finish()
            self._recorder.phase(REST)
            self._jits.waits, self._jits.numbers = False, None
            self._jits.rest.deadline.start()
            return True
        barrier.attempt("what TensorFlow did", self._beside.ended, None, "first loop")
        self._finish()
        self.stopped = True
        self._recorder.put(end=JobEnd(how="stopped"))
        return False

    def _serve(self) -> None:
        """A plan, if this is one, asks for the step with other batches; then the job ends."""
        if self._spec.requests >= 0:
            self._read_step(self._reader.answer)
            os._exit(0)
