"""Lowers the training step of one replica to a program for the TPU compiler.

The function passed to strategy.run is traced again, as replica 0 of its strategy and with XLA's
all-reduce for communication between replicas. It is lowered for the CPU, since only TensorFlow
builds for TPUs have their kernels, and the StableHLO program is the same.
"""

import contextlib
import json
import os
import re
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tpudiag.compiled import LoweredStep
from tpudiag.signals import Batch
from tpudiag.sources.job.points import (
    Args,
    Call,
    Kwargs,
    Library,
    hooks,
    privates,
    table,
    user_lines,
)
from tpudiag.sources.job.points.library_objects import Function, Spec, Strategy
from tpudiag.sources.job.process.protocol import LOWERING, JobSpec, Recorder, decoded_request
from tpudiag.sources.job.tensorflow.graphs import graphs, replica_context
from tpudiag.sources.job.tensorflow.graphs.operation_lines import OperationLines
from tpudiag.sources.job.tensorflow.graphs.step_program import StepProgram, only_on_tpu
from tpudiag.sources.job.tensorflow.watches.training import GradientWatch

SMALLER, SMALLEST = 4, 8
"""The factor and minimum of the small batch, whose step is compiled without memory pressure."""
_ERROR_CHARACTERS = 4000
_OF_OTHERS = re.compile(
    r"\bGPU\b|"
    r"Input to reshape is a tensor with \d+ values|[Ii]ncompatible shapes|"
    r"[Dd]imensions .*must be equal"
)
"""What is said of a GPU; sizes that were bound for the compiler, which fitted when the step ran."""


@dataclass(frozen=True)
class StepCall:
    """A training call: its function, and its arguments' leaves."""

    function: Call
    structure: object
    strategy: Strategy

    @property
    def alone(self) -> bool:
        """Whether it trains outside the job's strategies: on one replica, whatever exists."""
        return privates.DEFAULT_STRATEGY.names(self.strategy)


@contextlib.contextmanager
def _without_determinism(tf: Library) -> Generator[None]:
    """A TPU's programs are deterministic; XLA's for other devices lack operations that are."""
    asked = privates.DETERMINISTIC.get()
    asked_for = asked is not None and asked()
    if asked_for:
        privates.DETERMINISM_OFF.get()()
    try:
        yield
    finally:
        if asked_for:
            tf.config.experimental.enable_op_determinism()


class LoweringWatch:
    """Records the training function, and lowers it for any per-replica batch."""

    def __init__(self, tf: Library, gradients: GradientWatch, recorder: Recorder) -> None:
        self._tf, self._gradients, self._recorder = tf, gradients, recorder
        self._busy = self._done = False
        self.lines = OperationLines(tf)
        self.step: StepCall | None = None
        self._program: StepProgram | None = None
        """The program of the step traced last."""
        self.on_step: Callable[[StepCall], None] = lambda _: None
        """Called when a training step was first traced, before it runs."""
        self.steps_per_dispatch: Callable[[], int] = lambda: 1
        self.shapes: tuple[tuple[int, ...], ...] = ()
        """Shapes of examples with dimensions left open, where all examples had the same."""
        hooks.around(table.CALL_FOR_EACH_REPLICA, self._call)

    def _call(
        self,
        original: Call,
        extended: object,
        fn: Call,
        args: Args = (),
        kwargs: Kwargs | None = None,
    ) -> object:
        """One call of strategy.run; its arguments are kept if gradients were taken in it."""
        before = self._gradients.taken
        result = original(extended, fn, args, kwargs)
        if self._gradients.taken != before and not self._busy and self.step is None:
            strategy = self._tf.distribute.get_strategy()
            structure = self._tf.nest.map_structure(self._leaf, (tuple(args), dict(kwargs or {})))
            self.step = StepCall(fn, structure, strategy)
            self.on_step(self.step)
        return result

    def trained_alone(self, function: Function, args: Args, kwargs: Kwargs) -> None:
        """A training tf.function returned; it is the step where none ran under a strategy."""
        if self._busy or self.step is not None or self._tf.distribute.has_strategy():
            return
        structure = self._tf.nest.map_structure(self._leaf, (tuple(args), dict(kwargs)))
        if any(hasattr(value, "element_spec") for value in self._tf.nest.flatten(structure)):
            return  # a function that reads its own batches has a part that no TPU runs
        self.step = StepCall(_as_traced(function), structure, self._tf.distribute.get_strategy())
        self.on_step(self.step)

    def _leaf(self, value: object) -> object:
        """A tensor as its spec, on the first replica; anything else unchanged."""
        value = user_lines.first_replica_value(value)
        if self._tf.is_tensor(value) and not isinstance(value, self._tf.Variable):
            return self._tf.type_spec_from_value(value)
        return value

    def lower_as_seen(self, spec: JobSpec, batch: Batch | None) -> None:
        """Lower the step once as it ran, and with a small batch for comparison."""
        if batch is None or self.step is None or self._done:
            return
        self._done = True
        self._recorder.phase(LOWERING)
        own = batch.per_replica_batch
        wanted = [own, own // SMALLER] if own // SMALLER >= SMALLEST else [own]
        lowered: list[LoweredStep] = []
        for size in wanted:
            lowered.append(self.lower(own, size, spec.lower_for, Path(spec.lower_to)))
            self._recorder.put(lowered=lowered)

    def serve(self, spec: JobSpec, batch: Batch | None) -> None:
        """Lower the step for each request until there are no more, and end the job.

        On a thread of its own, outside any trace.
        """
        main = max(self._gradients.calls, key=lambda call: call.forward_operations, default=None)
        if main is not None:
            self._recorder.put(activations=graphs.activations(main))
        # The job's main thread is inside a trace, with its graph, replica and name scopes on a
        # thread-local stack: a second trace there would become part of the first.
        serving = threading.Thread(target=self._answer, args=(spec, batch))
        serving.start()
        serving.join()
        os._exit(0)

    def _answer(self, spec: JobSpec, batch: Batch | None) -> None:
        self._recorder.put(batch=batch, phase=LOWERING)
        if batch is None:
            return
        with os.fdopen(spec.requests, "rb") as requests:
            for line in requests:
                wanted = decoded_request(line)
                lowered = self.lower(
                    batch.per_replica_batch, wanted.batch, wanted.replicas, Path(spec.lower_to)
                )
                self._recorder.put(answer=lowered)

    def lower(self, batch: int, wanted: int, replicas: int, folder: Path) -> LoweredStep:
        """The step at `wanted` examples per replica instead of `batch`, as a file in `folder`."""
        before = len(self._gradients.calls)
        self._busy = True
        try:
            with _without_determinism(self._tf):
                lowered = self._lower(batch, wanted, replicas, folder)
        except Exception as error:  # whatever the job's function raises when it is traced again
            text, program = f"{type(error).__name__}: {error}"[:_ERROR_CHARACTERS], self._program
            own = only_on_tpu(str(error))
            ours = own or _OF_OTHERS.search(text)
            refused = program.refused(str(error)) if program is not None and not ours else ()
            if own:
                text = f"TensorFlow lowers {own} for TPUs alone, by kernels of their own"
            lowered = LoweredStep(batch=wanted, replicas=replicas, error=text, refused_ops=refused)
        finally:
            self._busy = False
            # Traces for the compiler are no steps of the job: its loss, batch and products would
            # count twice.
            del self._gradients.calls[before:]
        return replace(lowered, steps_per_dispatch=self.steps_per_dispatch())

    def _lower(self, batch: int, wanted: int, replicas: int, folder: Path) -> LoweredStep:
        step, made = self.step, partial(LoweredStep, batch=wanted, replicas=replicas)
        if step is None:
            return made(error="no step that trains was seen by itself")
        flat = self._tf.nest.flatten(step.structure)
        at = [i for i, leaf in enumerate(flat) if isinstance(leaf, self._tf.TypeSpec)]
        # Ragged and sparse tensors have data-dependent shapes: XLA compiles for one shape.
        odd = [flat[i] for i in at if not isinstance(flat[i], self._tf.TensorSpec)]
        if odd:
            kind = type(odd[0]).__name__.removesuffix("Spec")
            return made(error=f"the step gets a {kind}, which XLA cannot")
        specs = [self._resized(flat[i], batch, wanted) for i in at]

        def one_replica(*tensors: object) -> object:
            leaves = list(flat)
            for index, tensor in zip(at, tensors, strict=True):
                leaves[index] = tensor
            args, kwargs = self._tf.nest.pack_sequence_as(step.structure, leaves)
            with replica_context.as_replica(self._tf, step.strategy, replicas):
                out = step.function(*args, **kwargs)
            return [leaf for leaf in self._tf.nest.flatten(out) if self._tf.is_tensor(leaf)]

        self._program = program = StepProgram(self._tf, one_replica, specs)
        with self.lines.noted():
            lowered = program.lowered()
        path = folder / f"step-{wanted}-{replicas}.mlir"
        where = path.with_suffix(".locations.json")
        if isinstance(lowered, str):
            path.write_text(lowered, encoding="utf-8")
        else:
            path = path.with_suffix(".hlo")
            path.write_bytes(lowered)
        where.write_text(json.dumps(program.places(self.lines)), encoding="utf-8")
        return made(path=str(path), locations_path=str(where))

    def _resized(self, spec: Spec, batch: int, wanted: int) -> Spec:
        if spec.shape.rank and spec.shape[0] in (batch, None):
            example = spec.shape.as_list()[1:]
            if None in example:
                fits = self._tf.TensorShape(example).is_compatible_with
                example = list(next(filter(fits, self.shapes), example))
            spec = self._tf.TensorSpec([wanted, *example], spec.dtype)
        return spec


def _as_traced(function: Function) -> Call:
    """A tf.function's Python function, with AutoGraph's control flow.

    Where AutoGraph moved, a step that branches on a tensor is not lowered.
    """
    python_function: Call = function.python_function
    if privates.AUTOGRAPH.of(function, True) is False:
        return python_function
    convert, conversion = privates.CONVERT.get(), privates.CONVERSION.get()
    if convert is None or conversion is None:
        return python_function
    enabled = conversion(status=privates.CONVERSION_STATUS.get().ENABLED)
    # As strategy.run converts its argument. The public tf.autograph.to_graph does not accept
    # methods, which steps often are.
    converted: Call = convert(python_function, enabled, user_requested=True)
    return converted
