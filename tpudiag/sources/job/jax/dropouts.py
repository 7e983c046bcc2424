"""Dropouts of a traced function: what is kept or becomes zero by a comparison of random numbers."""

from typing import Any

from tpudiag.sources.job.jax.equations import PRODUCTS
from tpudiag.sources.job.jax.programs import Equation, Follower, Place, Program, within

_DRAWS = ("random_bits", "threefry2x32")
_COMPARES = ("lt", "le", "gt", "ge")
_BITS, _MASK, _ZERO = "bits", "mask", "zero"


def count(program: Program) -> int:
    """How many there are in a function that calls a model; 0 where it multiplies nothing."""
    found = _Dropouts()
    found.follow(program, [""] * len(program.invars))
    return found.dropouts if found.products else 0


class _Dropouts(Follower[str]):
    """Follows random numbers, the masks that are made of them, and zeros."""

    nothing = ""

    def __init__(self) -> None:
        self.dropouts = self.products = 0

    def unknown(self, variable: Any) -> str:
        """A zero that stands in the place of a variable."""
        value = getattr(variable, "val", None)
        return _ZERO if not getattr(value, "shape", ()) and value == 0 else ""

    def made(self, equation: Equation, given: list[str], _: Place) -> list[str]:
        """What is made of them: another of the same kind, but by a comparison or a choice."""
        name = str(equation.primitive)
        self.products += name in PRODUCTS
        if name in _DRAWS:
            return [_BITS] * len(equation.outvars)
        if within(equation):
            return [""] * len(equation.outvars)
        if name == "select_n":
            self.dropouts += given[0] == _MASK and _ZERO in given[1:]
            return [""]
        if name in _COMPARES and _BITS in given:
            return [_MASK]
        kinds = {*given} - {"", *([_ZERO] if _BITS in given else [])}
        same = len(kinds) == 1 and (_BITS in given or "" not in given)
        return [kinds.pop() if same else ""] * len(equation.outvars)
