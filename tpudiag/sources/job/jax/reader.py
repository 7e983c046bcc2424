"""Sends the training step as soon as it is known: a job may end at any moment."""

import os
from dataclasses import replace

from tpudiag.compiled import LoweredStep
from tpudiag.model import Location
from tpudiag.signals import Batch
from tpudiag.sources.job.jax import lowering, numerics, work
from tpudiag.sources.job.jax.fetches import FetchWatch
from tpudiag.sources.job.jax.jitted import Jitted, StepCall
from tpudiag.sources.job.jax.layouts import Layouts
from tpudiag.sources.job.jax.programs import made_in
from tpudiag.sources.job.jax.sends import SendWatch
from tpudiag.sources.job.jax.step import TracedStep
from tpudiag.sources.job.points import Library, user_lines
from tpudiag.sources.job.points.barrier import send_each
from tpudiag.sources.job.process.protocol import LOWERING, JobSpec, Recorder, decoded_request


class StepReader:
    """Traces the step once more, reads it, and writes it for the compiler."""

    def __init__(
        self, spec: JobSpec, recorder: Recorder, fetches: FetchWatch, sends: SendWatch
    ) -> None:
        self._spec, self._recorder = spec, recorder
        self._fetches, self._sends = fetches, sends
        self._known: tuple[StepCall, TracedStep, LoweredStep | None] | None = None
        self._early: Jitted | None = None
        self.fits: dict[Location | None, Location | None] = {}
        """The lines that call Keras' fit, and the job's own code that makes its batches."""
        self.layouts = Layouts()
        self.keras = ""
        """That of a Keras which JAX computes for."""
        self.at_once = 1
        """Training steps in a dispatch."""

    def while_it_trains(self, jax: Library, call: StepCall) -> None:
        """The step ran, and of its arguments it is known which the one before gave; once."""
        if self._early is not call.jitted:
            self._early = call.jitted
            with self._fetches.apart():
                self._read(jax, call)

    def at_the_end(self, jax: Library, call: StepCall) -> None:
        """What is only known now, too; the compiler begins by it."""
        with self._fetches.apart():
            if self._known is None or self._known[0] is not call:
                if self._spec.lower_to:
                    self._recorder.phase(LOWERING)
                self._read(jax, call)
                return
            _, step, program = self._known
            self._send_later(step)
            if program is not None:
                # By this word the compiler is started, which would slow down steps that are timed.
                self._recorder.put(phase=LOWERING)
                self._recorder.put(lowered=(program,))

    def past_the_end(self, jax: Library, call: StepCall) -> None:
        """What ran past the observed steps: a first one of jax.jit, or what joined parted state."""
        if self._known is None:
            self.at_the_end(jax, call)
        else:
            step = self._known[1]
            send_each(self._recorder.put, numerics=lambda: numerics.read(step))

    def answer(self, jax: Library, call: StepCall) -> None:
        """A plan asks for the step with other batches, as often as it likes."""
        step = TracedStep(jax, call)
        batch, devices = step.batch(), step.devices
        if batch is None:
            return
        own = Batch(batch.global_batch, max(batch.global_batch // devices, 1), devices)
        sources = user_lines.user_files()
        self._recorder.put(step_inputs=step.inputs(), alone=devices == 1, sources=sources)
        self._recorder.put(batch=own, phase=LOWERING)
        with os.fdopen(self._spec.requests, "rb") as requests:
            for line in requests:
                answer = lowering.of_batch(jax, step, decoded_request(line), self._spec.lower_to)
                self._recorder.put(answer=answer)

    def _read(self, jax: Library, call: StepCall) -> None:
        step = TracedStep(jax, call)
        self.send(step)
        batch, folder, program = step.batch(), self._spec.lower_to, None
        if folder:
            # A mesh may share the model out as well: what one device has of the examples.
            examples = max(batch.global_batch // step.devices, 1) if batch is not None else 1
            program = lowering.lowered(step, folder, examples * step.steps)
            self._recorder.put(lowered=(program,))
        self._known = call, step, program

    def send(self, step: TracedStep) -> None:
        """What is read off it."""
        batch, self.at_once = step.batch(), step.steps
        send_each(
            self._recorder.put,
            batch=lambda: batch,
            strategy_replicas=lambda: step.devices,
            step_inputs=step.inputs,
            matrix_ops=lambda: work.matrix_ops(step.program, batch),
            step_ops=step.operations,
            loss=step.loss_scale,
        )
        self._send_later(step)

    def _send_later(self, step: TracedStep) -> None:
        """What may be more with each step."""
        send_each(
            self._recorder.put,
            sharding=lambda: replace(
                sharded := step.sharded(),
                fed_at=self._sends.placed_at(step.data()) or sharded.fed_at,
                sent_again=self._sends.facts(),
                unmatched=self.layouts.facts(),
                of_keras=bool(self.keras)
                and any(made_in(s.equation, self.keras) for s in step.seen),
                by_fit=sharded.called_at in self.fits,
                read_at=self.fits.get(sharded.called_at),
            ),
            numerics=lambda: numerics.read(step),
        )
