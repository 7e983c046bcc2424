"""What a traced function does to train: running averages that learn, and dropouts.

These keep a number, or make it zero, by a comparison of random ones.
"""

from typing import Any

from tpudiag.signals.training_loop import TrainedInEvaluation
from tpudiag.sources.job.jax.equations import PRODUCTS
from tpudiag.sources.job.jax.lost_state import MadeAnew
from tpudiag.sources.job.jax.programs import Equation, Follower, Place, Program, entered, within

_DRAWS = ("random_bits", "threefry2x32")
_COMPARES = ("lt", "le", "gt", "ge")
_BITS, _MASK, _ZERO = "bits", "mask", "zero"


def read(program: Program) -> TrainedInEvaluation:
    """Batch normalisations and dropouts of a function that calls a model; none where it multiplies
    nothing.
    """
    found = _Dropouts()
    found.follow(program, [""] * len(program.invars))
    averages = MadeAnew(program, trains=False).averages if found.products else {}
    first = next((made for n, made in averages.items() if n >= 0), found.first)
    # Each normalisation has two, of the mean and of the variance.
    return TrainedInEvaluation(
        norms=len(averages) // 2,
        dropouts=found.dropouts if found.products else 0,
        location=entered(first) if first is not None else None,
    )


class _Dropouts(Follower[str]):
    """Follows random numbers, the masks that are made of them, and zeros."""

    nothing = ""

    def __init__(self) -> None:
        self.dropouts = self.products = 0
        self.first: Equation | None = None
        """That of the first dropout, or of what the job calls to drop."""

    def unknown(self, variable: Any) -> str:
        """A zero that stands in the place of a variable."""
        value = getattr(variable, "val", None)
        return _ZERO if not getattr(value, "shape", ()) and value == 0 else ""

    def made(self, equation: Equation, given: list[str], place: Place) -> list[str]:
        """What is made of them: another of the same kind, but by a comparison or a choice."""
        name = str(equation.primitive)
        self.products += name in PRODUCTS
        if place.call is None and not self.dropouts:
            self.first = equation
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
