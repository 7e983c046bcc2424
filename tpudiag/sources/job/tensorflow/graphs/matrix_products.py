"""Reads the matrix products and convolutions of the traced step: their sizes, dtypes and lines."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import prod

from tpudiag.model import Location
from tpudiag.signals import MatrixOp
from tpudiag.sources.job.points import Library, user_lines
from tpudiag.sources.job.points.library_objects import Graph, Operation, Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.graphs.open_rows import OpenRows
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

ASSUMED = 128
"""The size assumed for an open dimension that is not the batch."""
SLOWER = 40.0
"""How much slower than float32 a 16-bit convolution is on CPUs without instructions for it
(measured with its gradient, TensorFlow 2.21)."""
_LOOPS = ("While", "StatelessWhile")
_MATMULS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
_CONVOLUTIONS = ("Conv2D", "Conv3D")
_GATHERS = ("ResourceGather", "GatherV2", "GatherNd", "ResourceGatherNd")


@dataclass(frozen=True)
class Product:
    """A product or convolution as the one product that it is for the MXU."""

    batch: int
    """Independent products of this shape."""
    rows: int
    contraction: int
    columns: int

    @property
    def flops(self) -> int:
        """Multiplications and additions."""
        return 2 * self.batch * self.rows * self.contraction * self.columns


def matrix_ops(
    tf: Library,
    call: GradientCall,
    layer_line: Callable[[str], Location | None],
    replica_batch: int | None = None,
) -> tuple[MatrixOp, ...]:
    """The matrix products and convolutions of the step on one replica.

    An unknown first dimension counts as `replica_batch`, or as the joined rows of batch and length;
    any other as `ASSUMED`, which is noted. Products of unknown rank are left out.

    `layer_line` finds the line of a library's layer by the name of its variable or of an operation
    in its scope; in `fit` there is no user code on the stack.
    """
    forward = {id(op) for op in call.graph.get_operations()[: call.forward_operations]}
    every = list(graphs.operations(call.graph))
    widths = {width for operation, _ in every if (width := _embedding_width(operation))}

    def is_forward(operation: Operation, within: tuple[Operation, ...]) -> bool:
        outermost = within[0] if within else operation
        return id(outermost) in forward and "gradient_tape/" not in operation.name

    # A loop of the graph has one product for all its turns; a loop of Python has one for each.
    uses = Counter(_weight(each) for each, within in every if is_forward(each, within))
    products: list[MatrixOp] = []
    rows = OpenRows(replica_batch)
    for operation, within in every:
        outermost = within[0] if within else operation
        weight = _weight(operation)
        shapes = _Shapes(rows)
        sizes = _product(operation, shapes)
        if sizes is not None:
            products.append(
                MatrixOp(
                    op=operation.type,
                    name=operation.name,
                    dtype=str(operation.inputs[0].dtype.base_dtype.name),
                    rows=sizes.rows,
                    contraction=sizes.contraction,
                    columns=sizes.columns,
                    batch=sizes.batch,
                    flops=sizes.flops * turns(tf, within),
                    location=_location(operation, layer_line) or _location(outermost, layer_line),
                    forward=is_forward(operation, within),
                    weight_uses=1 if weight is None else uses[weight] or 1,
                    sizes_known=not shapes.assumed,
                    reads_embedding=sizes.contraction in widths,
                )
            )
    return tuple(products)


def replica_flops(tf: Library, graph: Graph, replica_batch: int | None) -> float:
    """The FLOPs of one replica's forward products, with loop iterations: its cost on a CPU."""
    total, shapes = 0.0, _Shapes(OpenRows(replica_batch))
    for operation, within in graphs.operations(graph):
        sizes = _product(operation, shapes)
        if sizes is not None and "gradient_tape/" not in operation.name:
            half = operation.type.startswith("Conv") and "16" in operation.inputs[0].dtype.name
            total += sizes.flops * turns(tf, within) * (SLOWER if half else 1.0)
    return total


def turns(tf: Library, within: Iterable[Operation]) -> int:
    """How often what stands in these calls runs: a recurrence once per time step.

    A loop may be in a called function, as that of a recurrent layer of Keras 2, or in another loop,
    whose iterations multiply.
    """
    return prod(_turns(tf, each) for each in within if each.type in _LOOPS)


def _turns(tf: Library, loop: Operation) -> int:
    """A loop's iterations: its declared maximum, else the length of what it iterates; 1 if unknown.

    `tf.while_loop` counts in its first argument, up to its second where there is one.
    """
    most = tf.get_static_value(loop.inputs[1]) if len(loop.inputs) > 1 else None
    if most is not None and most.ndim == 0 and most > 0:
        return int(most)
    stacks = [each.op.inputs[0] for each in loop.inputs if each.op.type == "TensorListFromTensor"]
    return max((each.shape[0] or 1 for each in stacks if each.shape.rank), default=1)


class _Shapes:
    """The dimensions of tensors, and whether one had to be assumed."""

    def __init__(self, rows: OpenRows) -> None:
        self._rows = rows
        self.assumed = False

    def of(self, tensor: Tensor, width: int | None = None) -> list[int] | None:
        """The dimensions of a tensor, None for an unknown rank; `width`: its last one, if known."""
        if tensor.shape.rank is None:
            return None
        sizes = tensor.shape.as_list()
        if sizes and sizes[-1] is None:
            sizes[-1] = width
        if sizes and sizes[0] is None:
            sizes[0] = self._rows.of(tensor, sizes[1:])
        return [self._size(size) for size in sizes]

    def _size(self, size: int | None) -> int:
        self.assumed |= size is None
        return ASSUMED if size is None else size


def _location(
    operation: Operation, layer_line: Callable[[str], Location | None]
) -> Location | None:
    return (
        layer_line(name_read_by(operation) or operation.name)
        or user_lines.of_operation(operation)
        or layer_line(operation.name)
    )


def _embedding_width(operation: Operation) -> int | None:
    """The width of the rows in a lookup in a table of floats."""
    if operation.type not in _GATHERS or not operation.outputs[0].dtype.is_floating:
        return None
    table = operation.inputs[0]
    if not (table.dtype.name == "resource" or "ReadVariable" in graphs.source(table).op.type):
        return None
    shape = operation.outputs[0].shape
    return shape[-1] if shape.rank else None


def _product(operation: Operation, shapes: _Shapes) -> Product | None:
    if operation.type in _MATMULS:
        return _matmul(operation, shapes)
    if operation.type == "Einsum":
        return _einsum(operation, shapes)
    if operation.type in _CONVOLUTIONS:
        return _convolution(operation, shapes)
    return None


def _matmul(operation: Operation, shapes: _Shapes) -> Product | None:
    plain = operation.type == "MatMul"
    transposed, right_too = (
        operation.get_attr(name)
        for name in (("transpose_a", "transpose_b") if plain else ("adj_x", "adj_y"))
    )
    right, given = operation.inputs[1].shape, operation.outputs[0].shape
    width = None
    if plain and right.rank == 2:  # a layer's joined tensor may leave both dimensions open
        width = given[-2] if transposed else right[-1 if right_too else -2]
    left = shapes.of(operation.inputs[0], width)
    columns = right[-2 if right_too else -1] if plain and right.rank == 2 else None
    out = shapes.of(operation.outputs[0], columns)
    if left is None or out is None:
        return None
    rows, contraction = (left[-1], left[-2]) if transposed else (left[-2], left[-1])
    return Product(prod(out[:-2]), rows, contraction, out[-1])


def _einsum(operation: Operation, shapes: _Shapes) -> Product | None:
    inputs, _, output = operation.get_attr("equation").decode().replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != 2:
        return None
    sizes: dict[str, int] = {}
    spelt: list[str] = []
    for term, tensor in zip(terms, operation.inputs, strict=True):
        shape = shapes.of(tensor)
        if shape is None:
            return None
        # `...` is spelt out as digits, counted from the last of its dimensions.
        digits = map(str, reversed(range(len(shape) - len(term.replace("...", "")))))
        letters = term.replace("...", "".join(digits))
        if len(letters) != len(shape):
            return None
        spelt.append(letters)
        sizes.update(zip(letters, shape, strict=True))
    left, right = map(set, spelt)
    both = left & right
    kept = set(output.replace("...", "")) | {label for label in sizes if label.isdigit()}

    def size(labels: set[str]) -> int:
        return prod(sizes[label] for label in labels)

    return Product(
        size(both & kept),
        size((left - both) & kept),
        size(both - kept),
        size((right - both) & kept),
    )


def _convolution(operation: Operation, shapes: _Shapes) -> Product | None:
    # A kernel has no batch: its open first dimension stays open.
    kernel = _Shapes(OpenRows(None)).of(operation.inputs[1])
    out = shapes.of(operation.outputs[0])
    if kernel is None or out is None:
        return None
    return Product(1, prod(out) // max(kernel[-1], 1), prod(kernel[:-1]), kernel[-1])


_ON_THE_WAY = frozenset(
    ("Cast", "Identity", "Reshape", "Transpose", "ExpandDims", "Squeeze", "EnsureShape", "Mul")
)
_DEPTH = 12


def name_read_by(operation: Operation) -> str | None:
    """The name of an operation's variable operand, None where there is none.

    It identifies the layer, unlike scopes: Keras 3 enters a layer's more than once, so that
    `dense_1` may be the second one of the layer `dense`.
    """
    handle = _handle(operation)
    return None if handle is None else _name(handle)


def _weight(operation: Operation) -> int | None:
    """Which variable is an operand of a product, in its graph."""
    if operation.type not in (*_MATMULS, *_CONVOLUTIONS, "Einsum"):
        return None
    handle = _handle(operation)
    return None if handle is None else id(handle)


def _handle(operation: Operation) -> Tensor | None:
    """The handle of an operation's variable operand."""
    return next((read.inputs[0] for read in filter(None, map(_read, operation.inputs))), None)


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
