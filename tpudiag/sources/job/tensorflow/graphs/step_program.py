"""The program of a traced step, and the user's lines of its operations and of refused ones."""

import re
from collections.abc import Sequence

from tpudiag.compiled import RefusedOp
from tpudiag.sources.job.points import Call, Library, user_lines
from tpudiag.sources.job.points.library_objects import Function, Graph
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.graphs.operation_lines import OperationLines

_REFUSED = re.compile(r"(\w+) \(No registered '\w+' OpKernel for XLA")
_UNDONE = re.compile(r"(\w+) with .{1,80} is not yet implemented")
_ONLY_ON_TPU = frozenset(
    ("ResizeBilinear", "ResizeBilinearGrad", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad",
     "Unique")
)  # fmt: skip
"""What TPUs have kernels of their own for, and a CPU's XLA lacks in some releases or forms
(tensorflow/core/tpu/kernels, and what is registered for DEVICE_TPU_XLA_JIT alone)."""
_NODE = re.compile(r"\{\{(?:function_)?node ([^}\s]+)\}\}")
_NO_STAGE = "Invalid stage"


class StepProgram:
    """A function of the step's tensors, traced for these specs on first use."""

    def __init__(self, tf: Library, function: Call, specs: Sequence[object]) -> None:
        # No AutoGraph: called functions were converted in the job's own trace.
        self._tf, self._specs = tf, specs
        self._function: Function = tf.function(function, jit_compile=True, autograph=False)

    def lowered(self) -> str | bytes:
        """The program: StableHLO, or serialised HLO before TensorFlow 2.19, which has nothing else.

        Raises TensorFlow's errors where the step does not lower.
        """
        # Give variables without values any: the program does not depend on them. A model or
        # optimizer built inside the first trace gets its values after it, but a plan's job
        # never leaves that trace.
        ops = self._tf.raw_ops
        for variable in self._graph().variables:
            if variable.shape.is_fully_defined() and not ops.VarIsInitializedOp(
                resource=variable.handle
            ):
                value = ops.Empty(shape=variable.shape.as_list(), dtype=variable.dtype, init=False)
                ops.AssignVariableOp(resource=variable.handle, value=value)
        compiled = self._function.experimental_get_compiler_ir(*self._specs)
        try:
            stable = compiled(stage="stablehlo")
            return stable.decode() if isinstance(stable, bytes) else str(stable)
        except ValueError as refused:
            if _NO_STAGE not in str(refused):
                raise
        # Not its text as well: each form converts the whole step.
        return bytes(compiled(stage="hlo_serialized"))

    def places(self, lines: OperationLines | None = None) -> dict[str, object]:
        """The user's line of each operation, and the arguments' names in order.

        The innermost line of an operation's stack is complemented by the recorded calls of Keras,
        if any.
        """
        of_keras = lines.of_graph(self._graph()) if lines is not None else {}
        locations: dict[str, str] = {}
        for operation, _ in graphs.operations(self._graph()):
            location = user_lines.of_operation(operation)
            if location is not None:
                locations.setdefault(operation.name, str(location))
        return {
            "operations": locations,
            "layers": of_keras,
            "arguments": self._arguments(),
        }

    def _graph(self) -> Graph:
        return self._function.get_concrete_function(*self._specs).graph

    def _arguments(self) -> list[str]:
        variables = {id(v.handle): v.name for v in self._graph().variables}
        names: list[str] = []
        # The captured tensors by the graph's own inputs for them.
        captured = {id(inner): id(outer) for outer, inner in self._graph().captures}
        for index, tensor in enumerate(self._graph().inputs):
            source = captured.get(id(tensor))
            name = variables.get(source, "") if source is not None else f"input {index}"
            # TensorFlow names a tensor by its operation and output number; variables' names end
            # like that for historical reasons.
            names.append(re.sub(r":\d+$", "", name) or f"argument {index}")
        return names

    def refused(self, error: str) -> tuple[RefusedOp, ...]:
        """The operations that TensorFlow cannot lower, with the user's lines."""
        named = set(_REFUSED.findall(error))
        kinds = {kind for kind in named - _ONLY_ON_TPU if not kind.startswith("_")}
        if not kinds:
            return (RefusedOp("An argument of type string", "input"),) if named else self._at(error)
        ops = {
            operation.type: RefusedOp(
                operation.type, operation.name, user_lines.of_operation(operation)
            )
            for operation, _ in graphs.operations(self._graph())
            if operation.type in kinds
        }
        return tuple(ops.get(kind, RefusedOp(kind, kind)) for kind in sorted(kinds))

    def _at(self, error: str) -> tuple[RefusedOp, ...]:
        named = {name.rpartition("/")[2]: name for name in _NODE.findall(error)}
        for operation, _ in graphs.operations(self._graph()) if named else ():
            if operation.name in named.values() or operation.name.rpartition("/")[2] in named:
                location = user_lines.of_operation(operation)
                return (RefusedOp(operation.type, operation.name, location),)
        return ()


def only_on_tpu(error: str) -> str:
    """The operations that an error refuses which a TPU takes; empty where it refuses others."""
    named = {*_REFUSED.findall(error), *_UNDONE.findall(error)}
    return ", ".join(sorted(named)) if named <= _ONLY_ON_TPU else ""
