"""Running averages of arguments, as batch normalisation keeps them, that a step throws away."""

from typing import Any

from tpudiag.model import Location
from tpudiag.sources.job.jax import equations
from tpudiag.sources.job.jax.equations import Equation, Program

_PASS = frozenset(("broadcast_in_dim", "convert_element_type", "copy", "reshape", "squeeze"))
_NEAR = 1e-3
_Average = tuple[int, Location | None]


def read(program: Program) -> dict[int, Location | None]:
    """The arguments, by number, whose new average nothing reads, and the line that made it."""
    lost: dict[int, Location | None] = {}
    _walk(program, {id(v): n for n, v in enumerate(program.invars)}, lost)
    return lost


def _walk(
    program: Program,
    arguments: dict[int, int],
    lost: dict[int, Location | None],
    differentiated: bool = False,
) -> list[_Average | None]:
    """One program, and those within it; which of its results are averages."""
    scaled: dict[int, tuple[float, int | None]] = {}
    averages: dict[int, _Average] = {}
    read = {id(v) for each in program.eqns for v in each.invars} | set(map(id, program.outvars))
    for equation in program.eqns:
        given, name = equation.invars, str(equation.primitive)
        # A model that is not differentiated here, as a frozen teacher, needs no new averages.
        trains = differentiated or "jvp(" in equations.scope(equation)
        made: list[_Average | None] = [None] * len(equation.outvars)
        for inner in equations.within(equation):
            own = given[max(len(given) - len(inner.invars), 0) :]
            pairs = zip(inner.invars, own, strict=False)
            known = {id(v): arguments[id(o)] for v, o in pairs if id(o) in arguments}
            results = _walk(inner, known, lost, trains)
            made = results if len(results) == len(made) else made
        if name == "add" and trains:
            made = [_average(equation, [scaled.get(id(variable)) for variable in given])]
        elif name == "mul":
            factors = [getattr(variable, "val", None) for variable in given]
            other, factor = (given[0], factors[1]) if factors[0] is None else (given[1], factors[0])
            if factor is not None:
                scaled[id(equation.outvars[0])] = float(factor), arguments.get(id(other))
        elif name in _PASS:
            made = [averages.get(id(given[0]))]
            source, result = id(given[0]), id(equation.outvars[0])
            if source in arguments:
                arguments[result] = arguments[source]
            if source in scaled:
                scaled[result] = scaled[source]
        for variable, average in zip(equation.outvars, made, strict=False):
            if average is not None and id(variable) not in read:
                lost.setdefault(*average)
            elif average is not None:
                averages[id(variable)] = average
    return [averages.get(id(variable)) for variable in program.outvars]


def _average(equation: Equation, parts: list[tuple[float, int | None] | None]) -> _Average | None:
    """Two shares of one, the first or the second of an argument."""
    known: list[Any] = [part for part in parts if part is not None]
    of = [argument for _, argument in known if argument is not None]
    whole = len(known) == 2 and abs(sum(factor for factor, _ in known) - 1) <= _NEAR
    return (of[0], equations.line(equation)) if whole and len(of) == 1 else None
