"""A loss of each prediction with each label: (n, 1) against (n,) is broadcast to (n, n)."""

from itertools import islice

from tpudiag.signals.step_numerics import PairedLoss
from tpudiag.sources.job.points import user_lines
from tpudiag.sources.job.points.library_objects import Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.graphs.constants import PASS, depends_on_input
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_MEET = frozenset(("Mul", "SquaredDifference", "Sub"))
_ONWARD = frozenset(
    ("Abs", "Add", "AddN", "AddV2", "Div", "DivNoNan", "Maximum", "Mean", "Minimum", "Mul", "Neg",
     "Pow", "RealDiv", "Select", "SelectV2", "Sqrt", "Square", "Sub", "Sum")
) | PASS  # fmt: skip
"""Operations of a loss of each pair; an exponential, as of a kernel of pairs, is none."""
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


def _spreads(left: Tensor, right: Tensor) -> bool:
    """Whether one is a column and the other a list of as many."""
    if {left.shape.rank, right.shape.rank} != {1, 2}:
        return False
    column, several = (left, right) if left.shape.rank == 2 else (right, left)
    return column.shape[1] == 1 and column.shape[0] == several.shape[0] != 1


def _is_learnt(tensor: Tensor) -> bool | None:
    """Whether it is made of variables with dimensions; None where it is not made of data either."""
    return graphs.reads_variable(tensor) or (False if depends_on_input(tensor) else None)
