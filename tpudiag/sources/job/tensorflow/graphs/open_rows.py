"""The size of a tensor's first dimension, where its shape leaves it open.

It is the batch, unless a layer joined batch and length into rows: Keras' Dense does so for more
than two dimensions, and a batch without `drop_remainder` leaves those rows open.
"""

from math import prod

from tpudiag.sources.job.points.library_objects import Tensor

_SAME_ELEMENTS = frozenset(
    ("Reshape", "Transpose", "Identity", "Cast", "Squeeze", "ExpandDims", "StopGradient",
     "CheckNumerics", "EnsureShape", "PreventGradient")
)  # fmt: skip
"""Operations that keep all elements of their first input, in another shape or type."""
_SAME_ROWS = frozenset(
    ("BiasAdd", "BiasAddGrad", "Relu", "Relu6", "ReluGrad", "Elu", "Selu", "Tanh", "TanhGrad",
     "Sigmoid", "SigmoidGrad", "Softplus", "Erf", "Exp", "Log", "Softmax", "LogSoftmax", "Neg",
     "Square", "Sqrt", "Rsqrt", "Pow", "AddV2", "Add", "AddN", "Sub", "Mul", "RealDiv", "Maximum",
     "Minimum", "SelectV2", "FusedBatchNormV3", "LeakyRelu", "LeakyReluGrad", "Sum", "Mean")
)  # fmt: skip
"""Operations that keep the rows of an input of the same rank."""
_FARTHEST = 100
"""The most operations followed from one tensor back to known rows."""


class OpenRows:
    """The rows of tensors in one replica's step; `replica_batch` unless joined."""

    def __init__(self, replica_batch: int | None) -> None:
        self._replica_batch = replica_batch
        self._known: dict[tuple[int, str], int | None] = {}

    def of(self, tensor: Tensor, rest: list[int | None]) -> int | None:
        """The first dimension of a tensor of known rank; None where unknown.

        `rest`: its other dimensions, some of which its shape may leave open.
        """
        if rest == tensor.shape.as_list()[1:]:
            return self._rows(tensor, _FARTHEST)
        return self._from_operation(tensor, rest, _FARTHEST)

    def _rows(self, tensor: Tensor, farthest: int) -> int | None:
        size = tensor.shape[0] if tensor.shape.rank else None
        if size is not None:
            return int(size)
        key = id(tensor.graph), str(tensor.name)
        if key not in self._known:
            self._known[key] = self._replica_batch  # for loops that lead back to it
            rest = tensor.shape.as_list()[1:]
            if farthest > 0:
                self._known[key] = self._from_operation(tensor, rest, farthest)
        return self._known[key]

    def _from_operation(self, tensor: Tensor, rest: list[int | None], farthest: int) -> int | None:
        operation = tensor.op
        if operation.type in _SAME_ELEMENTS:
            elements = self._elements(operation.inputs[0], farthest - 1)
            # An open dimension makes it 0, so the rows stay unknown.
            each = prod(size or 0 for size in rest)
            if elements is not None and each and elements % each == 0:
                return elements // each
        elif operation.type in _SAME_ROWS:
            of_rank = [each for each in operation.inputs if each.shape.rank == tensor.shape.rank]
            rows = [self._rows(each, farthest - 1) for each in of_rank]
            # A dimension of 1 is broadcast over the rows of the other.
            larger = [each for each in rows if each is not None and each > 1]
            if larger:
                return max(larger)
        elif operation.type == "MatMul" and not operation.get_attr("transpose_a"):
            return self._rows(operation.inputs[0], farthest - 1)
        return self._replica_batch

    def _elements(self, tensor: Tensor, farthest: int) -> int | None:
        if tensor.shape.rank is None or farthest <= 0:
            return None
        each = tensor.shape[1:].num_elements()
        if each is not None:
            rows = self._rows(tensor, farthest) if tensor.shape.rank else 1
            return None if rows is None else rows * each
        if tensor.op.type in _SAME_ELEMENTS:
            return self._elements(tensor.op.inputs[0], farthest - 1)
        return None
