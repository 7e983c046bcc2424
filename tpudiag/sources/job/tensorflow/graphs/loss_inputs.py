"""What meets in the loss: scores or probabilities, (n, 1) and (n,), each example and the others."""

from collections.abc import Iterator
from itertools import islice

from tpudiag.signals.step_numerics import LossInput, PairedLoss, ReplicaSimilarities
from tpudiag.sources.job.points import Library, user_lines
from tpudiag.sources.job.points.library_objects import Operation, Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.graphs.constants import Constants
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_PRODUCTS = ("BatchMatMul", "Conv", "Einsum", "MatMul")
_ENTROPIES = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
_MOST = 400
"""Operations that are looked at behind a loss."""
_ALMOST_ONE = 0.99
"""What is cut below one, above this, is meant for a probability: Keras cuts at 1e-7 from it."""
_CUTS = graphs.ADD | graphs.DIVIDE | graphs.PASS | {"ClipByValue", "Maximum", "Minimum"}
_MEET = frozenset(("Mul", "SquaredDifference", "Sub"))
_ONWARD = frozenset(
    ("Abs", "Add", "AddN", "AddV2", "Div", "DivNoNan", "Maximum", "Mean", "Minimum", "Mul", "Neg",
     "Pow", "RealDiv", "Select", "SelectV2", "Sqrt", "Square", "Sub", "Sum")
) | graphs.PASS  # fmt: skip
"""Operations of a loss of each pair; an exponential, as of a kernel of pairs, is none."""
_SOFTMAX = frozenset(
    ("Exp", "LogSoftmax", "Softmax", "SoftmaxCrossEntropyWithLogits",
     "SparseSoftmaxCrossEntropyWithLogits")
)  # fmt: skip


def read(tf: Library, call: GradientCall) -> Iterator[tuple[LossInput | None, Operation]]:
    """Each cross-entropy behind the loss: what does not fit, and the operation that made its input.

    Keras' losses on probabilities take a logarithm of them, cut to (0, 1); the sigmoid's
    cross-entropy is made of log1p(exp(-abs(x))). Keras itself takes the scores of a softmax that
    stands right before its loss, whatever the loss was told.
    """
    constants = Constants(tf, 0)
    behind = graphs.upstream(call.target, lambda each: each.type.startswith(_PRODUCTS))
    for operation in islice(behind, _MOST):
        if operation.type in _ENTROPIES:
            made = graphs.source(operation.inputs[0]).op
            if made.type != "Log":  # else of probabilities, which follow
                yield LossInput("softmax", "scores") if made.type == "Softmax" else None, made
        elif operation.type == "Log1p" and operation.inputs[0].op.type == "Exp":
            made = graphs.source(operation.inputs[0].op.inputs[0]).op
            made = graphs.source(made.inputs[2]).op if made.type.startswith("Select") else made
            yield LossInput("sigmoid", "scores") if made.type == "Sigmoid" else None, made
        elif (
            operation.type == "Log" and (cut := _uncut(constants, operation.inputs[0])) is not None
        ):
            made = graphs.source(cut).op
            yield LossInput("none", "probabilities") if is_linear(made) else None, made


def _uncut(constants: Constants, tensor: Tensor) -> Tensor | None:
    """What was cut to (0, 1), after a division by its sum; None of anything else."""
    operation, below_one = tensor.op, False
    while operation.type in _CUTS:
        bounds = [] if operation.type in ("Maximum", *graphs.PASS) else list(operation.inputs)[1:]
        value = constants.of(bounds[-1]) if bounds else None
        below_one |= value is not None and _ALMOST_ONE < value < 1
        tensor = graphs.passed_on(operation)
        operation = tensor.op
    return tensor if below_one else None


def is_linear(operation: Operation) -> bool:
    """Whether it is a layer's output without an activation, or with one that has no upper end."""
    kinds = [operation.type, *(each.op.type for each in operation.inputs)]
    summed = operation.type in graphs.ADD and any(kind.startswith(_PRODUCTS) for kind in kinds)
    return summed or operation.type in ("BiasAdd", "Relu") or operation.type.startswith(_PRODUCTS)


def paired(call: GradientCall) -> PairedLoss | None:
    """The first (n, 1) that meets (n,) behind what is differentiated."""
    of_loss = graphs.upstream(call.target, lambda each: each.type not in _MEET | _ONWARD)
    for operation in islice(of_loss, _MOST):
        met = operation.type in _MEET and _spreads(*operation.inputs)
        if met and {_is_learnt(each) for each in operation.inputs} == {True, False}:
            rows = operation.outputs[0].shape[0] or 0
            return PairedLoss(rows, user_lines.of_operation(operation))
    return None


def similarities(call: GradientCall) -> ReplicaSimilarities | None:
    """The products (n, d) by (d, n) of two batches of one replica's vectors, below a softmax.

    What was gathered of all replicas has more columns than rows, or comes from a collective.
    """
    products: list[Operation] = []

    def ends(operation: Operation) -> bool:
        if operation.type == "MatMul":
            products.append(operation)
        return operation.type == "MatMul"

    kinds = {each.type for each in islice(graphs.upstream(call.target, ends), _MOST)}
    for product in products if kinds & _SOFTMAX else ():
        rows, columns = product.outputs[0].shape
        if rows == columns and all(map(_is_of_rows, product.inputs)):
            return ReplicaSimilarities(rows or 0, user_lines.of_operation(product))
    return None


def _is_of_rows(tensor: Tensor) -> bool:
    """Whether it is what the network makes of the examples of one replica."""
    made_of = {each.type for each in graphs.upstream(tensor)}
    alone = not any("Gather" in kind and "Collective" in kind for kind in made_of)
    return alone and graphs.reads_variable(tensor) and graphs.depends_on_input(tensor)


def _spreads(left: Tensor, right: Tensor) -> bool:
    """Whether one is a column and the other a list of as many."""
    if {left.shape.rank, right.shape.rank} != {1, 2}:
        return False
    column, several = (left, right) if left.shape.rank == 2 else (right, left)
    return column.shape[1] == 1 and column.shape[0] == several.shape[0] != 1


def _is_learnt(tensor: Tensor) -> bool | None:
    """Whether it is made of variables with dimensions; None where it is not made of data either."""
    return graphs.reads_variable(tensor) or (False if graphs.depends_on_input(tensor) else None)
