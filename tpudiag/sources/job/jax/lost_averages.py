"""Running averages of arguments, as batch normalisation keeps them, that a step throws away."""

from collections.abc import Sequence
from dataclasses import dataclass

from tpudiag.model import Location
from tpudiag.sources.job.jax.programs import Equation, Follower, Place, Program, line

_PASS = frozenset(("broadcast_in_dim", "convert_element_type", "copy", "reshape", "squeeze"))
_NEAR = 1e-3


@dataclass(frozen=True)
class _Value:
    """What is known of a variable: an argument, or one by its number, or a share of it."""

    argument: int | None = None
    share: float | None = None
    is_average: bool = False


def read(program: Program) -> dict[int, Location | None]:
    """The arguments, by number, whose new average nothing reads, and the line that made it."""
    averages = _Averages()
    averages.keep(averages.follow(program, map(_Value, range(len(program.invars)))))
    return {n: where for n, where in averages.made_at.items() if n not in averages.kept}


class _Averages(Follower[_Value]):
    """Which averages are made, and which of them are read."""

    nothing = _Value()

    def __init__(self) -> None:
        self.made_at: dict[int, Location | None] = {}
        self.kept: set[int] = set()

    def keep(self, values: Sequence[_Value]) -> None:
        """They are read, or are results."""
        self.kept |= {v.argument for v in values if v.is_average and v.argument is not None}

    def made(self, equation: Equation, given: list[_Value], place: Place) -> list[_Value]:
        """Shares of an argument and of what is new make its average."""
        name = str(equation.primitive)
        if name in _PASS:
            return given
        self.keep(given)
        if name == "mul":
            numbers = [getattr(variable, "val", None) for variable in equation.invars]
            for number, other in ((numbers[0], given[1]), (numbers[1], given[0])):
                if number is not None:
                    whole = other == _Value(other.argument)
                    return [_Value(other.argument if whole else None, float(number))]
        # A model that is not differentiated here, as a frozen teacher, needs no new averages.
        if name == "add" and "jvp(" in place.scope:
            shares = [each.share for each in given if each.share is not None]
            of = [v.argument for v in given if v.argument is not None and v.share is not None]
            if len(shares) == 2 and len(of) == 1 and abs(sum(shares) - 1) <= _NEAR:
                self.made_at.setdefault(of[0], line(equation))
                return [_Value(of[0], is_average=True)]
        return []

    def leaves(
        self, equation: Equation, made: Sequence[_Value], results: list[_Value]
    ) -> Sequence[_Value]:
        """A loop gives what its last turn gives."""
        if len(results) == len(equation.outvars):
            return results
        self.keep(results)
        return made
