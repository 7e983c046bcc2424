"""The constant parts of a traced graph: scalars made from shapes and numbers."""

from itertools import combinations
from math import prod

from tpudiag.sources.job.points import Library
from tpudiag.sources.job.points.library_objects import Operation, Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs

_DEPTH = 20


class Constants:
    """Constants of the graph of one replica, whose batch is known."""

    def __init__(self, tf: Library, batch: int) -> None:
        self._static = tf.get_static_value
        self._batch = batch

    def of(self, tensor: Tensor, depth: int = _DEPTH) -> float | None:
        """The value of a scalar that depends only on shapes and constants."""
        value = self._static(tensor)
        if value is not None:
            return float(value.reshape(-1)[0]) if value.size == 1 else None
        operation = tensor.op
        if depth == 0 or tensor.shape.num_elements() != 1:
            return None
        if operation.type == "StridedSlice":
            return self._dimension(operation)
        if operation.type == "Prod":
            return self._product(operation.inputs[0])
        if operation.type == "Size":
            count = operation.inputs[0].shape.num_elements()
            return None if count is None else float(count)
        if operation.type in graphs.PASS and operation.inputs:
            return self.of(graphs.passed_on(operation), depth - 1)
        parts = [self.of(item, depth - 1) for item in operation.inputs]
        if len(parts) == 2 and parts[0] is not None and parts[1] is not None:
            return _combined(operation.type, parts[0], parts[1])
        return None

    def _product(self, factors: Tensor) -> float | None:
        value = self._static(factors)
        if value is not None:
            return float(value.prod())
        parts = [self.of(item) for item in factors.op.inputs] if factors.op.type == "Pack" else []
        known = [part for part in parts if part is not None]
        return prod(known) if parts and len(known) == len(parts) else None

    def _dimension(self, operation: Operation) -> float | None:
        shape = operation.inputs[0].op
        begin = self._static(operation.inputs[1])
        if begin is None or begin.size != 1:
            return None
        # Shapes known during tracing are folded into constants by TensorFlow itself; then the slice
        # reads a constant.
        if shape.type != "Shape":
            whole = self._static(operation.inputs[0])
            return None if whole is None else float(whole[int(begin.reshape(-1)[0])])
        sizes = shape.inputs[0].shape
        index = int(begin.reshape(-1)[0])
        if sizes.rank is None or not -sizes.rank <= index < sizes.rank:
            return None
        size = sizes[index]
        if size is None and index == 0 and self._batch:
            size = self._batch
        return None if size is None else float(size)

    def scaled(self, operation: Operation) -> tuple[float | None, Tensor]:
        """The constant by which a product or quotient scales an input, and that input."""
        left, right = operation.inputs
        constant = self.of(right)
        if operation.type in graphs.DIVIDE:
            return (1 / constant if constant else constant), left
        # Either side of a product may be the constant, but only the divisor of a quotient.
        return (self.of(left), right) if constant is None else (constant, left)

    def inside(self, value: Tensor) -> tuple[float, ...]:
        """The constants that multiply every example's value before its reduction."""
        constants: list[float] = []
        for _ in range(_DEPTH):
            operation = value.op
            if operation.type in graphs.PASS and operation.inputs:
                value = graphs.passed_on(operation)
                continue
            if operation.type not in graphs.DIVIDE and operation.type != "Mul":
                break
            factor, value = self.scaled(operation)
            if not factor:
                break
            constants.append(abs(factor))
        return tuple(constant for constant in constants if constant != 1)


def products(constants: tuple[float, ...]) -> list[float]:
    """The products of all subsets, that of none first."""
    sizes = range(len(constants) + 1)
    return [prod(some) for size in sizes for some in combinations(constants, size)]


def _combined(kind: str, left: float, right: float) -> float | None:
    if kind == "Mul":
        return left * right
    if kind in graphs.DIVIDE:
        return left / right if right else None
    if kind in ("Add", "AddV2"):
        return left + right
    if kind == "Sub":
        return left - right
    return max(left, right) if kind == "Maximum" else None
