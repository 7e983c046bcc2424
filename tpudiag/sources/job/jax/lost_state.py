"""What a step makes anew of its arguments: moments of gradients, and running averages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tpudiag.model import Location
from tpudiag.sources.job.jax.programs import Equation, Follower, Place, Program, line

_PASS = frozenset(("convert_element_type", "copy", "reshape", "squeeze"))
_SUMS = frozenset(("add", "add_any", "sub"))
_CHOICES = frozenset(("cond", "select_n"))
"""What is new only in some steps, as where several batches make one update."""
_NEAR = 1e-3


@dataclass(frozen=True)
class _Value:
    """What is known of a variable: a sum of shares of arguments, and of other things."""

    shares: Mapping[int, float] = field(default_factory=dict[int, float])
    learnt: bool = False
    """Gradients are part of it."""
    factor: float | None = None
    """By which it was multiplied, where no argument is part of it."""
    average: int | None = None
    """The argument of which it is the new average."""

    @property
    def moment(self) -> int | None:
        """The argument of which it is the new value: a share of it, and gradients."""
        fits = self.learnt and len(self.shares) == 1 and 0 < max(self.shares.values()) <= 1
        return next(iter(self.shares)) if fits else None

    def times(self, factor: float) -> "_Value":
        """So many times it."""
        shares = {n: factor * share for n, share in self.shares.items()}
        return _Value(shares, self.learnt, None if shares else factor)

    def plus(self, other: "_Value") -> "_Value":
        """The sum of both."""
        numbers = self.shares.keys() | other.shares.keys()
        sums = {n: self.shares.get(n, 0.0) + other.shares.get(n, 0.0) for n in numbers}
        return _Value(sums, self.learnt or other.learnt)


class MadeAnew(Follower[_Value]):
    """Which arguments of a step go into their own new values, and what reads these."""

    nothing = _Value()

    def __init__(self, program: Program, trains: bool = True) -> None:
        self._trains = trains
        self.moments: dict[int, Location | None] = {}
        """Arguments that are moments of the gradients, and the lines of their new values."""
        self.averages: dict[int, Equation] = {}
        """Arguments that have a new running average, and its maker; below 0 constants."""
        self._kept: set[int | None] = set()
        self._others: set[int] = set()
        """Arguments that the loss is made of, and those that not every step makes anew."""
        constants = enumerate(reversed(program.constvars), -len(program.constvars))
        self._constants = {id(variable): _Value({n: 1.0}) for n, variable in constants}
        results = self.follow(program, (_Value({n: 1.0}) for n in range(len(program.invars))))
        self.returned = {value.moment for value in results}
        """Moments whose new values are results of the step."""
        self._read_by(results)
        own = self.moments.items()
        self.moments = {n: at for n, at in own if n >= 0 and n not in self._others}
        self.unread = {n: at for n, at in self.averages.items() if n not in self._kept}
        """Those of them whose new average nothing reads."""

    def unknown(self, variable: Any) -> _Value:
        """Of a constant: what the job made outside, and did not give as an argument."""
        return self._constants.get(id(variable), self.nothing)

    def _read_by(self, values: list[_Value]) -> None:
        """They are read, or are results."""
        self._kept.update(value.average for value in values)

    def made(self, equation: Equation, given: list[_Value], place: Place) -> list[_Value]:
        """A share of one argument, and what is new, make its new value."""
        name, forward = str(equation.primitive), not self._trains or "jvp(" in place.scope
        if name in _PASS:
            return given
        self._read_by(given)
        if forward or name in _CHOICES:
            self._others.update(*(value.shares for value in given))
        value = self._value(name, equation, given)
        # A model that is not differentiated here, as a frozen teacher, needs no new averages.
        if forward and name == "add" and len(value.shares) == 1:
            value = self._average(value, given, equation)
        if not forward and value.moment is not None:
            self.moments.setdefault(value.moment, line(equation))
        learnt = value.learnt or "transpose(" in place.scope
        return [replace(value, learnt=learnt)] * len(equation.outvars)

    def _average(self, value: _Value, given: list[_Value], equation: Equation) -> _Value:
        """Of an argument and of what is new, where their shares are one together."""
        ((argument, share),) = value.shares.items()
        others = [each.factor for each in given if each.factor is not None]
        if len(others) != 1 or abs(share + others[0] - 1) > _NEAR:
            return value
        self.averages.setdefault(argument, equation)
        return _Value(average=argument)

    def _value(self, name: str, equation: Equation, given: list[_Value]) -> _Value:
        """What an equation gives: sums and multiples are followed."""
        if name in _SUMS:
            shape = equation.outvars[0].aval.shape
            # A number, as an optimizer's epsilon, is no moment of an array.
            left, right = (
                value if variable.aval.shape == shape != () else _Value(learnt=value.learnt)
                for variable, value in zip(equation.invars, given, strict=True)
            )
            return left.plus(right.times(-1.0) if name == "sub" else right)
        if name == "mul":
            (one, other), (left, right) = equation.invars, given
            for by, factor, value in ((one, left, right), (other, right, left)):
                if by.aval.shape == ():
                    number = getattr(by, "val", None)
                    # A number that is an argument (inject_hyperparams of optax) leaves a share.
                    if number is not None:
                        return value.times(float(number))
                    return _Value(value.shares, value.learnt or factor.learnt)
        return _Value(learnt=any(value.learnt for value in given))

    def leaves(
        self, equation: Equation, made: Sequence[_Value], results: list[_Value]
    ) -> Sequence[_Value]:
        """A loop gives what its last turn gives."""
        if len(results) == len(equation.outvars):
            return results
        self._read_by(results)
        return made
