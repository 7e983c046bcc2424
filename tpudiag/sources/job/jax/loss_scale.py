"""The scaling of a loss that each device differentiates, and the reduction of its gradients.

Within shard_map or jax.pmap. Followed are the constants that the loss is multiplied by on its way
back to the examples, and those that the sums of gradients over the devices are divided by; where
one of either is no constant, nothing is said.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import isclose, prod
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import LossScale
from tpudiag.sources.job.jax import equations
from tpudiag.sources.job.jax.devices_in_use import MATTERS
from tpudiag.sources.job.jax.equations import Equation, Program

_SUMS = ("psum", "all_reduce")
_MOVES = ("all_gather", "all_to_all", "ppermute", "reduce_scatter", "psum_scatter", *_SUMS)
_SAME = frozenset(
    ("pvary", "pbroadcast", "convert_element_type", "copy", "reshape", "squeeze", "neg",
     "broadcast_in_dim")
)  # fmt: skip
_LOOPS = frozenset(("scan", "while", "cond"))


@dataclass
class _Sum:
    """Gradients that are summed over the devices."""

    bytes: int
    location: Location | None
    asked: bool
    """By the job, and not by JAX on behalf of arguments that all devices share."""
    times: float = float("inf")
    """How many times their mean they are where they are used."""


class _Unknown(Exception):
    """A factor that is no constant, or a way that is not followed."""


@dataclass
class _Place:
    """Where in the step a program stands."""

    scope: str = ""
    sizes: dict[str, int] | None = None
    """Devices along each axis, where each of them computes its own."""


def read(
    jaxpr: Program, rows: int, devices: int, state: Counter[tuple[int, ...]]
) -> LossScale | None:
    """The loss of a step of which each device gets so many rows; None where it cannot be told.

    `state`: the shapes of floating state on one device, with their bytes.
    """
    way = _Way(rows, devices, state)
    try:
        way.walk(jaxpr, {}, {}, _Place())
    except _Unknown:
        return None
    weights = {round(weight, 6) for weight, _ in way.seeds}
    factors = {round(each.times, 6) for each in way.sums}
    summed = sum(each.bytes for each in way.sums)
    if len(weights) != 1 or len(factors) != 1 or summed < MATTERS * sum(state.values()):
        return None
    (weight,), (times,) = weights, factors
    # Twice summed: as many times too large once more.
    more = devices if isclose(times, devices**2) else 1
    is_mean, is_part = isclose(weight, 1), isclose(weight, 1 / devices, rel_tol=1e-3)
    if times not in (1, devices, devices**2) or not (is_mean or (is_part and times == devices)):
        return None
    asked = next((each.location for each in way.sums if each.asked), None)
    return LossScale(
        weight=weight * more,
        replicas=devices,
        gradients_averaged=times == 1,
        location=asked or way.seeds[0][1],
    )


class _Way:
    """Follows constants and sums through a program and those within it."""

    def __init__(self, rows: int, devices: int, state: Counter[tuple[int, ...]]) -> None:
        self._rows, self._devices, self._state = rows, devices, state
        self._reduced: set[tuple[int, ...]] = set()
        """Shapes that the differentiated function reduces to one number."""
        self.seeds: list[tuple[float, Location | None]] = []
        """How far the loss moves when each value of a batch rises by one, and its line."""
        self.sums: list[_Sum] = []

    def walk(
        self,
        program: Program,
        constants: dict[int, float],
        sums: dict[int, tuple[_Sum, float]],
        place: _Place,
    ) -> tuple[list[float | None], list[tuple[_Sum, float] | None]]:
        """One program; what it gives that is a constant, or a sum."""
        for equation in program.eqns:
            values = [_constant(constants, variable) for variable in equation.invars]
            given = [sums.get(id(variable)) for variable in equation.invars]
            inside = _Place(f"{place.scope}/{equations.scope(equation)}", place.sizes)
            made = self._inner(equation, values, given, inside)
            if made is None and inside.sizes is not None:
                self._look(equation, values, inside)
                made = (
                    [self._folded(equation, values, inside)],
                    [self._joined(equation, values, given, inside)],
                )
            for variable, value, joined in zip(equation.outvars, *(made or ((), ())), strict=False):
                if value is not None:
                    constants[id(variable)] = value
                if joined is not None:
                    sums[id(variable)] = joined
        return (
            [_constant(constants, variable) for variable in program.outvars],
            [sums.get(id(variable)) for variable in program.outvars],
        )

    def _inner(
        self,
        equation: Equation,
        values: list[float | None],
        given: list[tuple[_Sum, float] | None],
        place: _Place,
    ) -> tuple[list[float | None], list[tuple[_Sum, float] | None]] | None:
        """The programs that an equation holds; None where it holds none."""
        programs = equations.within(equation)
        name = str(equation.primitive)
        if name == "shard_map":
            place.sizes = {str(k): int(v) for k, v in equation.params["mesh"].shape.items()}
        elif name == "xla_pmap":
            about = equation.params
            place.sizes = {str(about["axis_name"]): int(about["global_axis_size"])}
        made = None
        for program in programs:
            count = 0 if name in _LOOPS else len(program.invars)
            own = program.invars[:count]
            first = len(values) - count
            made = self.walk(
                program,
                {id(v): c for v, c in zip(own, values[first:], strict=False) if c is not None},
                {id(v): s for v, s in zip(own, given[first:], strict=False) if s is not None},
                place,
            )
        loose = made is None or name in _LOOPS or len(made[0]) != len(equation.outvars)
        if programs and loose:
            _used(each for each in given if each is not None)
        if name in ("shard_map", "xla_pmap") and made is not None:
            _used(each for each in made[1] if each is not None)
        return None if not programs else ([], []) if loose else made

    def _look(self, equation: Equation, values: list[float | None], place: _Place) -> None:
        """Note what the loss reduces, and what comes back to it."""
        name, backward = str(equation.primitive), "transpose(" in place.scope
        if "jvp(" not in place.scope or not equation.outvars:
            return
        shape = tuple(equation.outvars[0].aval.shape)
        if name.startswith(_MOVES) and not backward and shape:
            raise _Unknown
        if name == "reduce_sum" and not backward and not shape:
            self._reduced.add(tuple(equation.invars[0].aval.shape))
        of_batch = shape and shape[0] % self._rows == 0 and not self._state[shape]
        comes_back = name == "broadcast_in_dim" and backward and of_batch and values[0] != 0
        if comes_back and shape in self._reduced and not equation.invars[0].aval.shape:
            if values[0] is None:
                raise _Unknown
            self.seeds.append((abs(values[0]) * prod(shape), equations.line(equation)))

    def _folded(
        self, equation: Equation, values: list[float | None], place: _Place
    ) -> float | None:
        """A number that is computed of constants alone."""
        name, known = str(equation.primitive), [v for v in values if v is not None]
        if len(known) < len(values) or not known or equation.outvars[0].aval.shape:
            return None
        match name, known:
            case ("neg", [one]):
                return -one
            case ("div", [one, other]) | ("mul", [one, other]) if name == "mul" or other:
                return one * other if name == "mul" else one / other
            case (_, [one]) if name in _SAME:
                return one
            case (_, [one]) if name.startswith(_SUMS):
                return one * self._along(equation, place)
            case _:
                return None

    def _joined(
        self,
        equation: Equation,
        values: list[float | None],
        given: list[tuple[_Sum, float] | None],
        place: _Place,
    ) -> tuple[_Sum, float] | None:
        """What becomes of a sum of gradients, and a new one."""
        name = str(equation.primitive)
        if name.startswith(_SUMS):
            return self._summed(equation, given[0], place)
        told = [each for each in given if each is not None]
        if len(told) == 1:
            at = next(n for n, each in enumerate(given) if each is not None)
            (of, times), beside = told[0], list(zip(values, equation.invars, strict=True))
            others = beside[:at] + beside[at + 1 :]
            factor = self._factor(name, at, others)
            if factor is not None:
                return of, times * factor
        _used(told)
        return None

    def _factor(self, name: str, at: int, others: list[tuple[float | None, Any]]) -> float | None:
        """What an operation multiplies a sum by; None where it makes something else of it."""
        if name in _SAME and not others:
            return 1.0
        if name not in ("mul", "div") or (name == "div" and at != 0):
            return None
        ((value, other),) = others
        if value is None:
            if prod(getattr(other.aval, "shape", ())) == 1:
                raise _Unknown  # a count, a norm, a learning rate: it may hold the devices or not
            return None
        by = value if name == "div" else 1 / value if value else 0.0
        if any(isclose(by, self._devices**n, rel_tol=1e-3) for n in (1, 2)):
            return 1 / by
        if name == "div" and by != 1:
            raise _Unknown
        return None  # a learning rate

    def _summed(
        self, equation: Equation, before: tuple[_Sum, float] | None, place: _Place
    ) -> tuple[_Sum, float] | None:
        """A sum over the devices: of gradients, or of such a sum once more."""
        count = self._along(equation, place)
        variable = equation.outvars[0]
        shape = tuple(variable.aval.shape)
        if before is not None:
            return before[0], before[1] * count
        size = self._state[shape]
        if not shape or not size or count == 1:
            return None
        if count != self._devices:
            raise _Unknown
        asked = "transpose(" not in place.scope
        made = _Sum(prod(shape) * variable.aval.dtype.itemsize, equations.line(equation), asked)
        self.sums.append(made)
        return made, float(count)

    def _along(self, equation: Equation, place: _Place) -> int:
        """The devices that a sum joins."""
        axes = equation.params.get("axes", equation.params.get("axis_name", ()))
        names = equations.parts(axes)
        return prod((place.sizes or {}).get(str(name), 1) for name in names)


def _constant(constants: dict[int, float], variable: Any) -> float | None:
    """The number that a variable is, or that stands in its place."""
    value = getattr(variable, "val", None)
    if value is not None and not getattr(value, "shape", ()):
        try:
            return float(value)
        except (TypeError, ValueError):
            return None
    return constants.get(id(variable))


def _used(sums: Iterable[tuple[_Sum, float]]) -> None:
    """Something else is made of them."""
    for of, times in sums:
        of.times = min(of.times, times)
