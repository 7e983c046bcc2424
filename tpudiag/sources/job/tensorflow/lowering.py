"""Lowers the training step of one replica to a program for the TPU compiler.

The function that the job gave to strategy.run is traced once more, as replica 0 of its strategy
and with XLA's all-reduce in the place of what crosses replicas. It is lowered for the CPU, since
only TensorFlow builds for the TPU hold its kernels, and the program is the same StableHLO.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tpudiag.compiled import LoweredStep, RefusedOp
from tpudiag.signals import Batch
from tpudiag.sources.job.process.protocol import LOWERING, JobSpec, Recorder, decoded_request
from tpudiag.sources.job.tensorflow import graphs, hooks, user_lines
from tpudiag.sources.job.tensorflow.training import GradientWatch

REDUCIBLE = ("float16", "bfloat16", "float32", "int32", "uint32")
"""What XLA's all-reduce takes; anything else is rare and small, and stays as it is."""
SMALLER, SMALLEST = 4, 8
"""The small batch is so much smaller, and never below that: what a step costs that need not fit."""
_REFUSED = re.compile(r"(\w+) \(No registered '\w+' OpKernel for XLA")
_NODE = re.compile(r"\{\{(?:function_)?node ([^}\s]+)\}\}")
_ERROR_CHARACTERS = 4000
_HEAD = re.compile(r"func\.func @main\(.*?->|$")
_ARGUMENT = re.compile(r"%arg\d+: ")


@dataclass(frozen=True)
class StepCall:
    """A call that trained: its function, and the leaves of its arguments."""

    function: Callable[..., Any]
    structure: Any
    strategy: Any

    @property
    def alone(self) -> bool:
        """Whether it trains under no strategy of the job's: on one replica, whatever there is."""
        return type(self.strategy).__name__ == "_DefaultDistributionStrategy"


class LoweringWatch:
    """Notes the function that trains, and lowers it for any per-replica batch."""

    def __init__(self, tf: Any, gradients: GradientWatch, recorder: Recorder) -> None:
        self._tf, self._gradients, self._recorder = tf, gradients, recorder
        self._busy = self._done = False
        self.step: StepCall | None = None
        self.on_step: Callable[[LoweringWatch], None] = lambda _: None
        """Called when a training step was traced for the first time, before it runs."""
        extended = tf.compat.v1.distribute.StrategyExtended
        hooks.around(extended, "call_for_each_replica", self._call)

    def _call(
        self, original: Any, extended: Any, fn: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """One call of strategy.run; what it was given is kept if gradients were taken in it."""
        before = self._gradients.taken
        result = original(extended, fn, args, kwargs)
        if self._gradients.taken != before and not self._busy and self.step is None:
            strategy = self._tf.distribute.get_strategy()
            structure = self._tf.nest.map_structure(self._leaf, (tuple(args), dict(kwargs or {})))
            self.step = StepCall(fn, structure, strategy)
            self.on_step(self)
        return result

    def trained_alone(self, function: Any, args: Any, kwargs: Any) -> None:
        """A tf.function that trains has returned; its step is the one where none was run under a
        strategy."""
        if self._busy or self.step is not None or self._tf.distribute.has_strategy():
            return
        structure = self._tf.nest.map_structure(self._leaf, (tuple(args), dict(kwargs)))
        if any(map(_draws, self._tf.nest.flatten(structure))):
            return  # what draws its batches itself has a part that no TPU runs
        strategy = self._tf.distribute.get_strategy()
        self.step = StepCall(function.python_function, structure, strategy)
        self.on_step(self)

    def _leaf(self, value: Any) -> Any:
        """A tensor as its spec, on the first replica; anything else as it is."""
        value = _first(self._tf, value)
        if self._tf.is_tensor(value) and not isinstance(value, self._tf.Variable):
            return self._tf.type_spec_from_value(value)
        return value

    def lower_as_seen(self, spec: JobSpec, batch: Batch | None) -> None:
        """Once: lower the step as it ran, and with a small batch to hold it against."""
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

        On a thread of its own, where no trace is under way.
        """
        main = max(self._gradients.calls, key=lambda call: call.forward_operations, default=None)
        if main is not None:
            self._recorder.put(activations=graphs.activations(main))
        serving = threading.Thread(target=self._answer, args=(spec, batch))
        serving.start()
        serving.join()
        os._exit(0)

    def _answer(self, spec: JobSpec, batch: Batch | None) -> None:
        """Answer the requests."""
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
        """The step at `wanted` examples a replica in place of `batch`, as a file in `folder`."""
        started = time.perf_counter()
        before = len(self._gradients.calls)
        self._busy = True
        try:
            said = self._lower(batch, wanted, replicas, folder)
        except Exception as error:  # whatever the job's function does when it is traced again
            refused = self._refused(str(error))
            text = f"{type(error).__name__}: {error}"[:_ERROR_CHARACTERS]
            said = LoweredStep(batch=wanted, replicas=replicas, error=text, refused_ops=refused)
        finally:
            self._busy = False
            del self._gradients.calls[before:]
        took_s = time.perf_counter() - started
        return LoweredStep(
            batch=said.batch,
            replicas=said.replicas,
            path=said.path,
            locations_path=said.locations_path,
            error=said.error,
            refused_ops=said.refused_ops,
            took_s=took_s,
        )

    def _lower(self, batch: int, wanted: int, replicas: int, folder: Path) -> LoweredStep:
        """Trace, lower and write; raises what TensorFlow raises."""
        step = self.step
        if step is None:
            return LoweredStep(
                batch=wanted, replicas=replicas, error="no step that trains was seen by itself"
            )
        flat = self._tf.nest.flatten(step.structure)
        at = [i for i, leaf in enumerate(flat) if isinstance(leaf, self._tf.TypeSpec)]
        odd = [flat[i] for i in at if not isinstance(flat[i], self._tf.TensorSpec)]
        if odd:
            kind = type(odd[0]).__name__.removesuffix("Spec")
            return LoweredStep(
                batch=wanted, replicas=replicas, error=f"the step gets a {kind}, which XLA cannot"
            )
        specs = [self._resized(flat[i], batch, wanted) for i in at]

        def one_replica(*tensors: Any) -> Any:
            leaves = list(flat)
            for index, tensor in zip(at, tensors, strict=True):
                leaves[index] = tensor
            args, kwargs = self._tf.nest.pack_sequence_as(step.structure, leaves)
            with _as_replica(self._tf, step.strategy, replicas):
                out = step.function(*args, **kwargs)
            return [leaf for leaf in self._tf.nest.flatten(out) if self._tf.is_tensor(leaf)]

        self._traced = self._tf.function(one_replica, jit_compile=True, autograph=False)
        self._specs = specs
        text = self._traced.experimental_get_compiler_ir(*specs)(stage="stablehlo")
        if isinstance(text, bytes):
            text = text.decode()
        path = folder / f"step-{wanted}-{replicas}.mlir"
        path.write_text(text, encoding="utf-8")
        where = path.with_suffix(".locations.json")
        arguments = self._arguments()
        known = len(_ARGUMENT.findall(_HEAD.search(text)[0])) == len(arguments)  # type: ignore[index]
        places = {
            "operations": self._locations(), "arguments": arguments if known else [],
        }  # fmt: skip
        where.write_text(json.dumps(places), encoding="utf-8")
        return LoweredStep(
            batch=wanted, replicas=replicas, path=str(path), locations_path=str(where)
        )

    def _resized(self, spec: Any, batch: int, wanted: int) -> Any:
        """The spec with its batch dimension changed."""
        if spec.shape.rank and spec.shape[0] in (batch, None):
            shape = [wanted, *spec.shape.as_list()[1:]]
            return self._tf.TensorSpec(shape, spec.dtype)
        return spec

    def _graph(self) -> Any:
        """The graph of the step as it was traced last."""
        return self._traced.get_concrete_function(*self._specs).graph

    def _locations(self) -> dict[str, str]:
        """The user's line for each operation, by its name."""
        found: dict[str, str] = {}
        for operation, _ in graphs.operations(self._graph()):
            location = user_lines.of_frames(operation.traceback or ())
            if location is not None:
                found.setdefault(operation.name, str(location))
        return found

    def _arguments(self) -> list[str]:
        """The names of the program's arguments: inputs of the step, then its variables."""
        variables = {id(v.handle): v.name for v in self._graph().variables}
        names: list[str] = []
        captured = dict(zip(*self._captures(), strict=True))
        for index, tensor in enumerate(self._graph().inputs):
            source = captured.get(id(tensor))
            name = variables.get(source, "") if source is not None else f"input {index}"
            names.append(re.sub(r":\d+$", "", name) or f"argument {index}")
        return names

    def _captures(self) -> tuple[list[int], list[int]]:
        """The graph's own inputs for what it captured, and what that is; by identity."""
        pairs = self._graph().captures
        return [id(inner) for _, inner in pairs], [id(outer) for outer, _ in pairs]

    def _refused(self, error: str) -> tuple[RefusedOp, ...]:
        """The operations that TensorFlow says do not lower, with the user's lines."""
        named = set(_REFUSED.findall(error))
        kinds = {kind for kind in named if not kind.startswith("_")}
        if not kinds:
            return (RefusedOp("An argument of type string", "input"),) if named else self._at(error)
        found = {
            operation.type: RefusedOp(
                operation.type, operation.name, user_lines.of_frames(operation.traceback or ())
            )
            for operation, _ in graphs.operations(self._graph())
            if operation.type in kinds
        }
        return tuple(found.get(kind, RefusedOp(kind, kind)) for kind in sorted(kinds))

    def _at(self, error: str) -> tuple[RefusedOp, ...]:
        """The first operation that a refusal points to by its name, as `{{node dense/MatMul}}`."""
        named = {name.rpartition("/")[2]: name for name in _NODE.findall(error)}
        for operation, _ in graphs.operations(self._graph()) if named else ():
            if operation.name in named.values() or operation.name.rpartition("/")[2] in named:
                location = user_lines.of_frames(operation.traceback or ())
                return (RefusedOp(operation.type, operation.name, location),)
        return ()


@contextlib.contextmanager
def _as_replica(tf: Any, strategy: Any, replicas: int) -> Generator[None]:
    """Replica 0 of `replicas`: merge_call merges this one, and XLA sums over all of them."""
    extended = strategy.extended
    if not tf.distribute.has_strategy() and type(strategy) is type(tf.distribute.get_strategy()):
        yield
        return
    update_context: Any = import_module("tensorflow.python.distribute.distribute_lib").UpdateContext

    def reduce_to(reduce_op: Any, value: Any, *_: Any, **__: Any) -> Any:
        return _all_reduce(tf, reduce_op, value, replicas)

    def batch_reduce_to(reduce_op: Any, pairs: Any, *_: Any, **__: Any) -> Any:
        return [_all_reduce(tf, reduce_op, value, replicas) for value, _ in pairs]

    def update(var: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        first = [_first(tf, value) for value in args]
        given: dict[str, Any] = kwargs or {}
        named = {name: _first(tf, value) for name, value in given.items()}
        with update_context(0):
            done = fn(_first(tf, var), *first, **named)
        return tf.group(done) if group else tf.nest.map_structure(_alone, done)

    changed: dict[str, Any] = {
        "reduce_to": reduce_to, "batch_reduce_to": batch_reduce_to, "update": update,
        "_use_merge_call": lambda: True,
    }  # fmt: skip
    for name, function in changed.items():
        setattr(extended, name, function)
    try:
        with strategy.scope(), tf.distribute.ReplicaContext(strategy, 0):
            yield
    finally:
        for name in changed:
            delattr(extended, name)


def _first(tf: Any, value: Any) -> Any:
    """The first replica's part of a distributed value; anything else as it is."""
    return value.values[0] if isinstance(value, tf.distribute.DistributedValues) else value


def _draws(value: Any) -> bool:
    """Whether a value gives batches: a dataset or its iterator."""
    return hasattr(value, "element_spec")


def _alone(value: Any) -> tuple[Any]:
    """One replica's value, as the values of all replicas are given."""
    return (value,)


def _all_reduce(tf: Any, reduce_op: Any, value: Any, replicas: int) -> Any:
    """XLA's sum or mean of a value over the replicas."""
    tensor = tf.convert_to_tensor(_first(tf, value))
    if replicas == 1 or tensor.dtype.name not in REDUCIBLE:
        return tensor
    ops: Any = import_module("tensorflow.compiler.tf2xla.ops.gen_xla_ops")
    total = ops.xla_all_reduce(
        input=tensor, group_assignment=[list(range(replicas))], reduce_op="Add",
        mode="CrossReplica",
    )  # fmt: skip
    return total / tf.cast(replicas, total.dtype) if "MEAN" in str(reduce_op).upper() else total
