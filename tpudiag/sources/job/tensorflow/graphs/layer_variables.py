"""The variable that an operation of a traced step reads: it identifies the layer, unlike scopes.

Keras 3 enters a layer's name scope more than once, so that the scope `dense_1` may be the second
one of the layer `dense`; variables are named after their layers.
"""

from contextlib import suppress

from tpudiag.sources.job.points.library_objects import Operation, Tensor

_ON_THE_WAY = frozenset(
    ("Cast", "Identity", "Reshape", "Transpose", "ExpandDims", "Squeeze", "EnsureShape", "Mul")
)
_DEPTH = 12


def name_read_by(operation: Operation) -> str | None:
    """The name of an operation's variable operand, None where there is none."""
    for tensor in operation.inputs:
        read = _read(tensor)
        if read is not None:
            return _name(read.inputs[0])
    return None


def _read(tensor: Tensor) -> Operation | None:
    for _ in range(_DEPTH):
        if tensor.op.type == "ReadVariableOp":
            return tensor.op
        if tensor.op.type not in _ON_THE_WAY:
            return None
        tensor = tensor.op.inputs[0]
    return None


def _name(handle: object) -> str | None:
    for _ in range(_DEPTH):
        graph = getattr(handle, "graph", None)
        if graph is None or not hasattr(graph, "captures"):
            return None
        # In each inner graph a captured variable is a placeholder of its handle, with another name.
        outer = next((outside for outside, inside in graph.captures if inside is handle), None)
        if outer is None:
            return None
        for variable in graph.variables:
            with suppress(ValueError):  # a distributed one has no handle outside of its replicas
                if variable.handle is outer:
                    return str(variable.name)
        handle = outer
    return None
