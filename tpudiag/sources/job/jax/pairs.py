"""A loss of each prediction with each label: (n, 1) against (n,) is broadcast to (n, n)."""

from dataclasses import dataclass
from typing import Any

from tpudiag.signals.step_numerics import PairedLoss
from tpudiag.sources.job.jax.programs import Equation, Follower, Place, Program, line

_MEET = frozenset(("sub", "mul"))
_ONWARD = frozenset(
    ("abs", "add", "add_any", "convert_element_type", "copy", "div", "integer_pow", "max", "min",
     "mul", "neg", "pow", "reduce_sum", "select_n", "sqrt", "square", "sub")
)  # fmt: skip
"""Operations of a loss of each pair; an exponential, as of a kernel of pairs, is none."""


@dataclass(frozen=True)
class _Value:
    """What is known of a variable."""

    learnt: bool = False
    """Made of the state."""
    pairs: PairedLoss | None = None


def read(program: Program, state: frozenset[int], rows: int, devices: int) -> PairedLoss | None:
    """The first such loss; each device has so many rows of the batch."""
    pairs = _Pairs(frozenset((rows, rows * devices)) - {1})
    pairs.follow(program, (_Value(learnt=n in state) for n in range(len(program.invars))))
    return next(iter(pairs.found), None)


class _Pairs(Follower[_Value]):
    """Batches of one of these sizes that meet across, and what becomes of them."""

    nothing = _Value()

    def __init__(self, sizes: frozenset[int]) -> None:
        self._sizes = sizes
        self.found: list[PairedLoss] = []

    def made(self, equation: Equation, given: list[_Value], _place: Place) -> list[_Value]:
        """Pairs stay pairs in a loss; summed to one number they are one."""
        name = str(equation.primitive)
        before = next((each.pairs for each in given if each.pairs is not None), None)
        pairs = (before if name in _ONWARD else None) or self._met(equation, given)
        if pairs is not None and name == "reduce_sum" and not equation.outvars[0].aval.shape:
            self.found.append(pairs)
        return [_Value(any(each.learnt for each in given), pairs)] * len(equation.outvars)

    def _met(self, equation: Equation, given: list[_Value]) -> PairedLoss | None:
        """Predictions along one axis meet data along another."""
        if str(equation.primitive) not in _MEET or given[0].learnt == given[1].learnt:
            return None
        left, right = (self._along(variable) for variable in equation.invars)
        if left is None or right is None or left == right:
            return None
        shape = equation.outvars[0].aval.shape
        return PairedLoss(next(size for size in shape if size in self._sizes), line(equation))

    def _along(self, variable: Any) -> int | None:
        """The axis of the batch, where it has no other of more than one value."""
        shape = tuple(getattr(variable.aval, "shape", ()))
        longer = [axis for axis, size in enumerate(shape) if size != 1]
        return longer[0] if len(longer) == 1 and shape[longer[0]] in self._sizes else None
