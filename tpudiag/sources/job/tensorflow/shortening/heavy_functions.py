"""Skips functions that are too heavy for this machine or have no kernel on it: only traced.

Most findings on a step come from its graph, which its trace provides. The result is known from
there, too, except for its numbers, which are zero. Elements of its iterator are consumed, so that
data ends and fails as usual. What gives nothing back has effects alone, which the job may miss: an
intervention of its own, which another try leaves out.
"""

import contextlib
import threading
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import (
    Args,
    Call,
    Kwargs,
    Library,
    barrier,
    hooks,
    interventions,
    privates,
    table,
    user_lines,
)
from tpudiag.sources.job.points.library_objects import ConcreteFunction, Graph, Tensor
from tpudiag.sources.job.process import host_memory
from tpudiag.sources.job.tensorflow.devices import cpu_kernels
from tpudiag.sources.job.tensorflow.graphs import matrix_products
from tpudiag.sources.job.tensorflow.watches.function_record import FunctionRecord

TRACED, EFFECTS = InterventionKind.TRACED, InterventionKind.EFFECTS
_INITIAL = ("initialize_variables", "fn_with_cond")
"""Functions with which TensorFlow initialises variables inside a first call."""


class HeavyFunctions:
    """Decides at each tf.function's first run, from its trace."""

    def __init__(self, tf: Library, on_skip: Callable[[str], None]) -> None:
        """`on_skip` is called once with each function that is not run."""
        self._tf, self._on_skip = tf, on_skip
        self.batch: Callable[[], int | None] = lambda: None
        """A replica's batch, where a trace leaves it open."""
        self.predicted: Callable[[], int | None] = lambda: None
        """That of a prediction, which may be larger than any before."""
        self._current: tuple[FunctionRecord, Args] | None = None
        self._inside = False
        self._thread = threading.current_thread()
        hooks.around(table.TRACE_RUN, self._about_to_run)

    def leave(self, record: FunctionRecord, flops: float) -> None:
        """Do not run a traced function; `flops` are those of one replica."""
        if interventions.allowed(TRACED):
            record.heavy = f"some {host_memory.seconds(flops):.0f} s a replica"

    def call(
        self, record: FunctionRecord, original: Call, function: object, args: Args, kwargs: Kwargs
    ) -> object:
        """An outermost call of a tf.function."""
        with hooks.instead(self, _current=(record, args)):
            return original(function, *args, **kwargs)

    def _about_to_run(
        self, original: Call, concrete: ConcreteFunction, *args: object, **kwargs: object
    ) -> object:
        """A traced function is about to run; functions that it calls are not seen here."""
        graph, here = concrete.graph, threading.current_thread() is self._thread
        initial = any(name in graph.name for name in _INITIAL)
        if not here or self._current is None or initial or not self._tf.executing_eagerly():
            return original(concrete, *args, **kwargs)
        (record, given), self._current = self._current, None
        if is_recorded():
            return original(concrete, *args, **kwargs)
        larger = (self.predicted() or 0) > record.judged_batch
        if not record.heavy and (larger or not record.calls) and interventions.allowed(TRACED):
            record.judged_batch = self.predicted() or 0
            passes = host_memory.PASSES if record.trains else 1
            hooks.quietly(self._judge, record, graph, passes)
        kind = TRACED if any(map(_is_open, self._parts(concrete.structured_outputs))) else EFFECTS
        answered = interventions.allowed(kind) and self._can_answer(concrete.structured_outputs)
        if not (record.heavy and answered):
            try:
                return original(concrete, *args, **kwargs)
            except Exception as error:
                # On a TPU it runs: the rest of the script need not end by it.
                only_here = cpu_kernels.is_only_here(str(error)) and interventions.allowed(TRACED)
                if not (answered and only_here):
                    raise
            record.heavy = "a processor has no kernel for it"
        self._report(record)
        interventions.note(kind)
        return self._zeros(concrete.structured_outputs, self._examples(given))

    def _judge(self, record: FunctionRecord, graph: Graph, passes: int = 1) -> None:
        """Skip a function that takes too long."""
        batch = self.predicted() or self.batch()
        flops = passes * matrix_products.replica_flops(self._tf, graph, batch)
        if host_memory.is_heavy(flops):
            self.leave(record, flops)

    def watch_keras(self, keras: Library) -> None:
        """A model called directly counts as a function, too."""
        hooks.around(table.MODEL_CALLED, self._forward_pass, keras)

    def _forward_pass(self, original: Call, model: Any, *args: object, **kwargs: object) -> object:
        """A model's call outside of any function; an unbuilt one runs."""
        tf = self._tf
        given = self._tf.nest.flatten((args, kwargs))
        tensors = [each for each in given if type(each).__module__ == "numpy" or tf.is_tensor(each)]
        alone = not self._inside and tf.executing_eagerly() and not is_recorded()
        if not alone or not tensors or not model.built or not interventions.allowed(TRACED):
            return original(model, *args, **kwargs)
        positions = max(map(_positions, tensors))
        weights = sum(prod(each.shape) for each in model.weights if hasattr(each, "shape"))
        # No convolution or product takes more than all weights at all positions.
        if not host_memory.is_heavy(2.0 * weights * positions):
            return original(model, *args, **kwargs)
        with hooks.instead(self, _inside=True):
            record = FunctionRecord(name=f"{model.name}(...)", location=None)
            function = tf.function(partial(original, model), autograph=False)
            with contextlib.suppress(Exception):
                concrete = function.get_concrete_function(*args, **kwargs)
                self._judge(record, concrete.graph)
                if record.heavy and self._can_answer(concrete.structured_outputs):
                    self._report(record)
                    interventions.note(TRACED)
                    return self._zeros(concrete.structured_outputs, 1)
            return original(model, *args, **kwargs)

    def _report(self, record: FunctionRecord) -> None:
        """Tell of a function that is not run, once."""
        if not record.skipped:
            record.skipped, place = True, user_lines.caller()
            at = f" at {place}" if place else ""
            self._on_skip(f"`{record.name}`{at} ({record.heavy})")

    def _can_answer(self, outputs: object) -> bool:
        """Whether zeros can replace all results of a function."""
        of_no_shape = (self._tf.resource, self._tf.variant)
        return all(
            each.shape.rank is not None and each.dtype not in of_no_shape
            for each in self._parts(outputs)
            if _is_open(each)
        )

    def _parts(self, outputs: object) -> list[Any]:
        """The tensors of a function's result, and what else it gives."""
        parts: list[Any] = self._tf.nest.flatten(self._specs(outputs), expand_composites=True)
        return parts

    def _specs(self, outputs: Any) -> object:
        """A function's result; Keras 3 wraps it in an Optional, since data may have ended."""
        packed = isinstance(outputs, self._tf.experimental.Optional)
        return outputs.element_spec if packed else outputs

    def _examples(self, args: Args) -> int:
        """The examples that a function would read from its iterator, or was given; else 1."""
        read = [self._next(each) for each in args if hasattr(each, "__next__")]
        for leaf in self._tf.nest.flatten(read or args):
            replicas: Any = getattr(leaf, "values", None)
            parts = replicas if replicas.__class__ is tuple else (leaf,)
            sizes = [size for part in parts if _is_open(part) for size in tuple(part.shape)[:1]]
            if sizes:
                return sum(size or 0 for size in sizes) or 1
        return 1

    def _next(self, iterator: Any) -> object:
        try:
            return next(iterator)
        except (StopIteration, self._tf.errors.OutOfRangeError):
            raise barrier.for_job(StopIteration()) from None
        except Exception as error:
            raise barrier.for_job(error) from None

    def _zeros(self, outputs: object, examples: int) -> object:
        """A function's result as zeros; open dimensions become the number of examples."""
        tf, specs = self._tf, self._specs(outputs)
        parts = tf.nest.flatten(specs, expand_composites=True)
        # Each replica's own part, where they are not combined.
        apart = len(parts) // max(len(tf.nest.flatten(specs)), 1)
        examples = max(examples // max(apart, 1), 1)

        def zeros(leaf: Any) -> object:
            if not _is_open(leaf):
                return leaf
            shape = [examples if size is None else size for size in leaf.shape.as_list()]
            return tf.fill(shape, "") if leaf.dtype == tf.string else tf.zeros(shape, leaf.dtype)

        made = [zeros(each) for each in parts]
        answer = tf.nest.pack_sequence_as(specs, made, expand_composites=True)
        return answer if specs is outputs else tf.experimental.Optional.from_value(answer)


def _positions(tensor: Tensor) -> int:
    """How often the weights may be applied to a tensor: word ids have no features."""
    sizes = [size or 1 for size in tuple(tensor.shape)]
    return prod(sizes if "int" in str(tensor.dtype) else sizes[:-1])


def _is_open(leaf: object) -> bool:
    """Whether it is a tensor of which the trace only knows shape and type."""
    return hasattr(leaf, "dtype") and hasattr(leaf, "shape")


def is_recorded() -> bool:
    """Whether a gradient of the current code may be taken; assumed where unknown."""
    possibly = privates.RECORDED.get()
    return possibly is None or bool(possibly())
