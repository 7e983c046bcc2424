"""Batch normalisations that a step differentiates, and that normalise by what is stored."""

from typing import Any

from tpudiag.sources.job.jax.programs import Equation, Follower, Place, Program

_Step = tuple[str, int]
_SAME = frozenset(("broadcast_in_dim", "convert_element_type", "copy", "reshape", "squeeze"))


class StoredVariances(Follower[_Step]):
    """Followed is what becomes of an argument, by its number: 1 / sqrt(argument + epsilon)."""

    nothing = ("", -1)

    def __init__(self, program: Program) -> None:
        self.scaled: dict[int, tuple[int, Equation]] = {}
        """Arguments that are variances, and those that scale what is normalised by them."""
        self.follow(program, (("given", n) for n in range(len(program.invars))))

    def unknown(self, variable: Any) -> _Step:
        """A number that stands in the place of a variable."""
        return ("number", -1) if hasattr(variable, "val") else self.nothing

    def made(self, equation: Equation, given: list[_Step], place: Place) -> list[_Step]:
        """The steps of a normalisation."""
        name, of, made = str(equation.primitive), dict(given), self.nothing
        if name in _SAME:
            made = given[0]
        elif name == "add" and of.keys() == {"given", "number"}:
            made = "sum", of["given"]
        elif name == "rsqrt" and "sum" in of:
            made = "inverse", of["sum"]
        elif name == "mul" and of.keys() == {"inverse", "given"} and "jvp(" in place.scope:
            self.scaled.setdefault(of["inverse"], (of["given"], equation))
        return [made] * len(equation.outvars)
