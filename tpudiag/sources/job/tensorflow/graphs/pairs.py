"""A loss of each prediction with each label: (n, 1) against (n,) is broadcast to (n, n)."""

from tpudiag.signals.step_numerics import PairedLoss
from tpudiag.sources.job.points import user_lines
from tpudiag.sources.job.points.library_objects import Operation, Tensor
from tpudiag.sources.job.tensorflow.graphs.constants import PASS
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_MEET = frozenset(("Mul", "SquaredDifference", "Sub"))
_ONWARD = frozenset(
    ("Abs", "Add", "AddN", "AddV2", "Div", "DivNoNan", "Maximum", "Mean", "Minimum", "Mul", "Neg",
     "Pow", "RealDiv", "Select", "SelectV2", "Sqrt", "Square", "Sub", "Sum")
) | PASS  # fmt: skip
"""Operations of a loss of each pair; an exponential, as of a kernel of pairs, is none."""
_DATA = ("Iterator", "OptionalGet", "MultiDeviceIterator")
_MOST = 400
"""Operations that are looked at behind a loss."""


def read(call: GradientCall) -> PairedLoss | None:
    """The first such loss behind what is differentiated."""
    pending, visited = [call.target.op], set[int]()
    while pending and len(visited) < _MOST:
        operation = pending.pop()
        if id(operation) in visited:
            continue
        visited.add(id(operation))
        met = operation.type in _MEET and _spreads(*operation.inputs)
        if met and {_is_learnt(each) for each in operation.inputs} == {True, False}:
            rows = operation.outputs[0].shape[0] or 0
            return PairedLoss(rows, user_lines.of_frames(operation.traceback or ()))
        if operation.type in _ONWARD:
            pending.extend(each.op for each in operation.inputs)
    return None


def _spreads(left: Tensor, right: Tensor) -> bool:
    """Whether one is a column and the other a list of as many."""
    if {left.shape.rank, right.shape.rank} != {1, 2}:
        return False
    column, several = (left, right) if left.shape.rank == 2 else (right, left)
    return column.shape[1] == 1 and column.shape[0] == several.shape[0] != 1


def _is_learnt(tensor: Tensor) -> bool | None:
    """Whether it is made of variables with dimensions; None where it is not made of data either."""
    pending: list[Operation] = [tensor.op]
    visited, of_data = set[int](), False
    while pending:
        operation = pending.pop()
        if id(operation) in visited:
            continue
        visited.add(id(operation))
        if operation.type == "ReadVariableOp" and operation.outputs[0].shape.rank:
            return True
        given = operation.type == "Placeholder"
        of_data = of_data or given or operation.type.startswith(_DATA)
        if not operation.type.startswith(_DATA):
            pending.extend(each.op for each in operation.inputs)
    return False if of_data else None
