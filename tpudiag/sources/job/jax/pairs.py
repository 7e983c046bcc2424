"""A loss of each prediction with each label: (n, 1) against (n,) is broadcast to (n, n)."""

from dataclasses import dataclass
from typing import Any

from tpudiag.signals.step_numerics import PairedLoss
from tpudiag.sources.job.jax import equations
from tpudiag.sources.job.jax.equations import Equation, Program

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
    along: int | None = None
    """The axis of the batch, where it has no other of more than one value."""
    pairs: PairedLoss | None = None


def read(program: Program, state: frozenset[int], rows: int, devices: int) -> PairedLoss | None:
    """The first such loss; each device has so many rows of the batch."""
    known = {id(v): _Value(learnt=n in state) for n, v in enumerate(program.invars)}
    return _walk(program, known, frozenset((rows, rows * devices)) - {1})


def _walk(program: Program, known: dict[int, _Value], sizes: frozenset[int]) -> PairedLoss | None:
    """One program, and those within it."""
    for variable in (*program.invars, *program.constvars):
        known[id(variable)] = _placed(known.get(id(variable), _Value()), variable, sizes)
    for equation in program.eqns:
        given = [known.get(id(variable), _Value()) for variable in equation.invars]
        for inner in equations.within(equation):
            own = given[max(len(given) - len(inner.invars), 0) :]
            beneath = {id(v): value for v, value in zip(inner.invars, own, strict=False)}
            found = _walk(inner, beneath, sizes)
            if found is not None:
                return found
        name = str(equation.primitive)
        before = next((each.pairs for each in given if each.pairs is not None), None)
        pairs = (before if name in _ONWARD else None) or _met(equation, given, sizes)
        if pairs is not None and name == "reduce_sum" and not equation.outvars[0].aval.shape:
            return pairs
        value = _Value(any(each.learnt for each in given), pairs=pairs)
        for variable in equation.outvars:
            known[id(variable)] = _placed(value, variable, sizes)
    return None


def _placed(value: _Value, variable: Any, sizes: frozenset[int]) -> _Value:
    """The same of a variable of this shape."""
    shape = tuple(getattr(variable.aval, "shape", ()))
    longer = [axis for axis, size in enumerate(shape) if size != 1]
    along = longer[0] if len(longer) == 1 and shape[longer[0]] in sizes else None
    return _Value(value.learnt, along, value.pairs)


def _met(equation: Equation, given: list[_Value], sizes: frozenset[int]) -> PairedLoss | None:
    """Predictions along one axis meet data along another."""
    if str(equation.primitive) not in _MEET or len(given) != 2:
        return None
    left, right = given
    apart = None not in (left.along, right.along) and left.along != right.along
    if not apart or left.learnt == right.learnt:
        return None
    shape = tuple(equation.outvars[0].aval.shape)
    location = equations.line(equation)
    return PairedLoss(next(size for size in shape if size in sizes), location)
