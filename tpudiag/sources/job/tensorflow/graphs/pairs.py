"""Losses of pairs: (n, 1) that meets (n,), and each example's likeness to the others."""

from itertools import islice

from tpudiag.signals.step_numerics import PairedLoss, ReplicaSimilarities
from tpudiag.sources.job.points import user_lines
from tpudiag.sources.job.points.library_objects import Operation, Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.graphs.constants import PASS, depends_on_input
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_MEET = frozenset(("Mul", "SquaredDifference", "Sub"))
_ONWARD = frozenset(
    ("Abs", "Add", "AddN", "AddV2", "Div", "DivNoNan", "Maximum", "Mean", "Minimum", "Mul", "Neg",
     "Pow", "RealDiv", "Select", "SelectV2", "Sqrt", "Square", "Sub", "Sum")
) | PASS  # fmt: skip
"""Operations of a loss of each pair; an exponential, as of a kernel of pairs, is none."""
_SOFTMAX = frozenset(
    ("Exp", "LogSoftmax", "Softmax", "SoftmaxCrossEntropyWithLogits",
     "SparseSoftmaxCrossEntropyWithLogits")
)  # fmt: skip
_MOST = 400
"""Operations that are looked at behind a loss."""


def read(call: GradientCall) -> PairedLoss | None:
    """The first such loss behind what is differentiated."""
    of_loss = graphs.upstream(call.target, lambda each: each.type not in _MEET | _ONWARD)
    for operation in islice(of_loss, _MOST):
        met = operation.type in _MEET and _spreads(*operation.inputs)
        if met and {_is_learnt(each) for each in operation.inputs} == {True, False}:
            rows = operation.outputs[0].shape[0] or 0
            return PairedLoss(rows, user_lines.of_frames(operation.traceback or ()))
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
            location = user_lines.of_frames(product.traceback or ())
            return ReplicaSimilarities(rows or 0, location)
    return None


def _is_of_rows(tensor: Tensor) -> bool:
    """Whether it is what the network makes of the examples of one replica."""
    made_of = {each.type for each in graphs.upstream(tensor)}
    alone = not any("Gather" in kind and "Collective" in kind for kind in made_of)
    return alone and graphs.reads_variable(tensor) and depends_on_input(tensor)


def _spreads(left: Tensor, right: Tensor) -> bool:
    """Whether one is a column and the other a list of as many."""
    if {left.shape.rank, right.shape.rank} != {1, 2}:
        return False
    column, several = (left, right) if left.shape.rank == 2 else (right, left)
    return column.shape[1] == 1 and column.shape[0] == several.shape[0] != 1


def _is_learnt(tensor: Tensor) -> bool | None:
    """Whether it is made of variables with dimensions; None where it is not made of data either."""
    return graphs.reads_variable(tensor) or (False if depends_on_input(tensor) else None)
