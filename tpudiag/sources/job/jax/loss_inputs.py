"""Whether a cross-entropy gets what it takes: a softmax of a softmax, scores for probabilities."""

from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal

from tpudiag.model import Location
from tpudiag.signals.step_numerics import LossInput
from tpudiag.sources.job.jax.equations import PRODUCTS
from tpudiag.sources.job.jax.programs import LOOPS, Equation, Follower, Place, Program, line, within

_SAME = frozenset(
    ("broadcast_in_dim", "convert_element_type", "copy", "optimization_barrier", "pvary", "reshape",
     "sharding_constraint", "squeeze", "stop_gradient")
)  # fmt: skip
"""Operations that leave scores or probabilities what they are."""
_Activation = Literal["softmax", "sigmoid", "none", ""]
_Wanted = Literal["scores", "probabilities"]
_LAYERS: dict[str, _Activation] = {**dict.fromkeys(PRODUCTS, "none"), "logistic": "sigmoid"}


@dataclass(frozen=True)
class _Value:
    """What is known of a variable."""

    number: int
    """The same for what differs in form alone."""
    activation: _Activation = ""
    """Of the layer that gives it; "none" of sums of products."""
    location: Location | None = None
    of: tuple[str, int] = ("", 0)
    """A step on the way to a softmax, and the number of its scores."""
    constant: float | None = None
    cut: bool = False
    """To what lies between 0 and 1."""


def read(program: Program, called_at: Location | None = None) -> tuple[int, tuple[LossInput, ...]]:
    """The cross-entropies of a step that this line calls, and what they get that is not theirs."""
    losses = _Losses(called_at)
    losses.follow(program, (losses.new() for _ in program.invars))
    return len(losses.seen), tuple(losses.found.values())


class _Losses(Follower[_Value]):
    """Scores and probabilities, up to their logarithms."""

    def __init__(self, called_at: Location | None) -> None:
        self._called_at, self._numbers = called_at, count(1)
        self._by_number: dict[int, _Value] = {}
        self.seen: set[Location | None] = set()
        self.found: dict[Location | None, LossInput] = {}

    def new(self, **known: Any) -> _Value:
        """Another value."""
        made = _Value(next(self._numbers), **known)
        self._by_number[made.number] = made
        return made

    def unknown(self, variable: Any) -> _Value:
        """A constant."""
        try:
            return self.new(constant=float(variable.val))
        except (AttributeError, TypeError, ValueError):
            return self.new()

    def enters(self, equation: Equation, _program: Program, given: list[_Value]) -> list[_Value]:
        """A loop is not followed."""
        in_loop = str(equation.primitive) in LOOPS
        return [self.new() for _ in given] if in_loop else given

    def made(self, equation: Equation, given: list[_Value], place: Place) -> list[_Value]:
        """One value for each result."""
        if within(equation) or not given or "transpose(" in place.scope:
            return [self.new() for _ in equation.outvars]
        first, *rest = [self._given(equation, given), *(self.new() for _ in equation.outvars[1:])]
        return [first, *rest]

    def _given(self, equation: Equation, given: list[_Value]) -> _Value:
        """What an operation makes of what it is given."""
        name, first = str(equation.primitive), given[0]
        second = given[1] if len(given) > 1 else first
        if name in _SAME or (name in ("add", "sub") and second.constant == 0):
            return first
        if name in ("max", "min", "clamp"):
            return self._cut(name, given)
        if name in ("neg", "abs"):
            return first if first.of[0] == "sum" else replace(first, of=("", 0))
        if name in PRODUCTS and {"softmax", "sigmoid"} & {each.activation for each in given}:
            return self.new()  # sums of probabilities by weights of them may be such, too
        if name in _LAYERS:
            return self.new(activation=_LAYERS[name], location=line(equation))
        if name in ("add", "add_any"):
            linear = next((each for each in given if each.activation == "none"), self.new())
            return self.new(activation=linear.activation, location=linear.location)
        if name.startswith("log"):
            self._loss(equation, first)
        return self._normalised(equation, given, second)

    def _normalised(self, equation: Equation, given: list[_Value], second: _Value) -> _Value:
        """The steps of a softmax, of which the last gives probabilities."""
        first = given[0]
        step, scores = first.of
        match str(equation.primitive), second.of:
            case "reduce_max", _:
                return self.new(of=("largest", first.number))
            case "select_n", _:  # the largest, where that is finite
                return next((each for each in given if each.of[0] == "largest"), self.new())
            case "sub", ("largest", of) if of == first.number:
                return self.new(of=("shifted", first.number))
            case "exp", _:
                return self.new(of=("exp", scores if step == "shifted" else -first.number))
            case "reduce_sum", _:
                return self.new(of=("sum", scores if step == "exp" else first.number))
            case "div", ("sum", of) if first.of == ("exp", of):
                return self.new(activation="softmax", location=line(equation))
            case "div", ("sum", of) if of == first.number:
                return first  # shares of one, as Keras makes them
            case _:
                return self.new()

    def _cut(self, name: str, given: list[_Value]) -> _Value:
        """A value between bounds, or the larger of two."""
        bounds = [each.constant for each in given if each.constant is not None]
        values = [each for each in given if each.constant is None]
        if len(values) != 1:
            return self.new()
        between = name != "max" and any(0.9 < bound <= 1 for bound in bounds)
        below_0 = name == "max" and all(bound <= 1e-3 for bound in bounds)
        if between:
            return replace(values[0], cut=True)
        return values[0] if below_0 else self.new()

    def _loss(self, equation: Equation, given: _Value) -> None:
        """The logarithm of a sum of exponentials, of 1 and an exponential, or of probabilities."""
        (step, scores), name = given.of, str(equation.primitive)
        got = None
        if (name, step) in (("log", "sum"), ("log1p", "exp")):
            got = self._by_number.get(abs(scores))
        elif name == "log" and given.cut:
            got = given
        if got is None:
            return
        at, wants_scores = line(equation), not given.cut
        self.seen.add(at)
        if got.activation and (got.activation == "none") != wants_scores:
            wants: _Wanted = "scores" if wants_scores else "probabilities"
            # That of a layer which a library calls is the line of the whole step.
            where = at if got.location == self._called_at else got.location
            self.found.setdefault(at, LossInput(got.activation, wants, where))
