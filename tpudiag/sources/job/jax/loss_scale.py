"""The scaling of a loss that each device differentiates, and the reduction of its gradients.

Within shard_map or jax.pmap. Followed are the constants that the loss is multiplied by on its way
back to the examples, and those that the sums of gradients over the devices are divided by; where
one of either is no constant, nothing is said.
"""

import linecache
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose, prod
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import LossScale
from tpudiag.sources.job.jax.devices_in_use import MATTERS
from tpudiag.sources.job.jax.programs import (
    LOOPS,
    Equation,
    Follower,
    Place,
    Program,
    line,
    parts,
    within,
)
from tpudiag.sources.job.points import script_text

_SUMS = ("psum", "all_reduce")
_MOVES = ("all_gather", "all_to_all", "ppermute", "reduce_scatter", "psum_scatter", *_SUMS)
_DEVICES = re.compile(r"device|replica|axis_size|axis_index|mesh|psum", re.IGNORECASE)
"""What names the devices in a script."""
_SAME = frozenset(
    ("pvary", "pbroadcast", "convert_element_type", "copy", "reshape", "squeeze", "neg",
     "broadcast_in_dim")
)  # fmt: skip


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


_Known = float | tuple[_Sum, float] | None
"""A constant, or a sum of gradients and how many times their mean it is."""


def read(
    jaxpr: Program, rows: int, devices: int, state: Counter[tuple[int, ...]]
) -> LossScale | None:
    """The loss of a step of which each device gets so many rows; None where it cannot be told.

    `state`: the shapes of floating state on one device, with their bytes.
    """
    way = _Way(rows, devices, state)
    try:
        way.follow(jaxpr, [])
    except _Unknown:
        return None
    seeds = way.seeds or way.like_state
    weights = {round(weight, 6) for weight, _ in seeds}
    factors = {round(each.times, 6) for each in way.sums}
    summed = sum(each.bytes for each in way.sums)
    if len(weights) != 1 or len(factors) != 1 or summed < MATTERS * sum(state.values()):
        return None
    (weight,), (times,) = weights, factors
    # Twice summed: as many times too large once more.
    more = devices if isclose(times, devices**2) else 1
    is_mean, is_part = isclose(weight, 1), isclose(weight, 1 / devices, rel_tol=1e-3)
    again = next(filter(_names_devices, way.divided), None) if is_part and times == 1 else None
    told = is_mean or (is_part and (times == devices or again is not None))
    if times not in (1, devices, devices**2) or not told:
        return None
    asked = next((each.location for each in way.sums if each.asked), None)
    return LossScale(
        weight=weight * more,
        replicas=devices,
        gradients_averaged=times == 1,
        location=again or asked or seeds[0][1],
    )


def _names_devices(at: Location | None) -> bool:
    """Whether a line divides by the devices, by its words or those that its names stand for.

    As many micro-batches as there are devices are another matter.
    """
    if at is None or at.line is None:
        return False
    words = linecache.getline(at.file, at.line)
    named = "|".join(re.findall(r"[A-Za-z_]\w*", words))
    bound = re.findall(rf"^\s*(?:{named})\s*=([^=].*)", script_text.of(at.file), re.MULTILINE)
    return any(map(_DEVICES.search, (words, *bound)))


class _Way(Follower[_Known]):
    """Follows constants and sums through a program and those within it."""

    def __init__(self, rows: int, devices: int, state: Counter[tuple[int, ...]]) -> None:
        self._rows, self._devices, self._state = rows, devices, state
        self._reduced: set[tuple[int, ...]] = set()
        """Shapes that the differentiated function reduces to one number."""
        self.seeds: list[tuple[float, Location | None]] = []
        """How far the loss moves when each value of a batch rises by one, and its line."""
        self.like_state: list[tuple[float, Location | None]] = []
        """The same of arrays that have the shape of state, as that of a penalty has."""
        self.sums: list[_Sum] = []
        self.divided: list[Location | None] = []
        """Lines on the way to the loss that divide by as many as there are devices."""

    def unknown(self, variable: Any) -> _Known:
        """The number that stands in the place of a variable."""
        value = getattr(variable, "val", None)
        try:
            return float(value) if value is not None and not getattr(value, "shape", ()) else None
        except (TypeError, ValueError):
            return None

    def enters(self, equation: Equation, _program: Program, given: list[_Known]) -> list[_Known]:
        """A loop is not followed."""
        return [None] * len(given) if str(equation.primitive) in LOOPS else given

    def made(self, equation: Equation, given: list[_Known], place: Place) -> list[_Known]:
        """One number or one sum."""
        if str(equation.primitive) in LOOPS:
            _used(given)
        if place.sizes is None or within(equation):
            return []
        self._look(equation, given[0] if given else None, place)
        # A division by the devices on the way to the loss.
        by = {"div": self._devices, "mul": 1 / self._devices}.get(str(equation.primitive))
        forward = "jvp(" in place.scope and "transpose(" not in place.scope
        if forward and by and any(isinstance(v, float) and isclose(v, by) for v in given):
            self.divided.append(line(equation))
        if str(equation.primitive).startswith(_SUMS) and len(equation.outvars) > 1:
            each_of = zip(equation.outvars, given, strict=True)  # a whole tree is summed at once
            return [self._summed(equation, made, before, place) for made, before in each_of]
        joined = self._joined(equation, given, place)
        return [joined if joined is not None else self._folded(equation, given, place)]

    def leaves(
        self, equation: Equation, made: Sequence[_Known], results: list[_Known]
    ) -> Sequence[_Known]:
        """What leaves the devices is used."""
        if str(equation.primitive) in ("shard_map", "xla_pmap"):
            _used(results)
        return super().leaves(equation, made, results)

    def _look(self, equation: Equation, first: _Known, place: Place) -> None:
        """Note what the loss reduces, and what comes back to it."""
        name, backward = str(equation.primitive), "transpose(" in place.scope
        if "jvp(" not in place.scope or not equation.outvars:
            return
        shape = tuple(equation.outvars[0].aval.shape)
        # Sums of what is of no example are statistics of the batch, as of a normalisation.
        of_examples = shape and not (name.startswith(_SUMS) and shape[0] % self._rows)
        if name.startswith(_MOVES) and not backward and of_examples:
            raise _Unknown
        if name == "reduce_sum" and not backward and not shape:
            self._reduced.add(tuple(equation.invars[0].aval.shape))
        of_batch = shape and shape[0] % self._rows == 0
        comes_back = name == "broadcast_in_dim" and backward and of_batch and first != 0
        if comes_back and shape in self._reduced and not equation.invars[0].aval.shape:
            if not isinstance(first, float):
                raise _Unknown
            seeds = self.like_state if self._state[shape] else self.seeds
            seeds.append((abs(first) * prod(shape), line(equation)))

    def _folded(self, equation: Equation, given: list[_Known], place: Place) -> float | None:
        """A number that is computed of constants alone."""
        name, known = str(equation.primitive), [v for v in given if isinstance(v, float)]
        if len(known) < len(given) or not known or equation.outvars[0].aval.shape:
            return None
        match name, known:
            case ("neg", [one]):
                return -one
            case ("mul", [one, other]):
                return one * other
            case ("div", [one, other]) if other:
                return one / other
            case (_, [one]) if name in _SAME:
                return one
            case (_, [one]) if name.startswith(_SUMS):
                return one * self._along(equation, place)
            case _:
                return None

    def _joined(self, equation: Equation, given: list[_Known], place: Place) -> _Known:
        """What becomes of a sum of gradients, and a new one."""
        name, factor = str(equation.primitive), None
        match given:
            case _ if name.startswith(_SUMS):
                return self._summed(equation, equation.outvars[0], given[0], place)
            case [(of, times)] if name in _SAME:
                return of, times
            case [(_, _), by] if name in ("mul", "div") and not isinstance(by, tuple):
                factor = self._factor(name, by, equation.invars[1])
            case [by, (_, _)] if name == "mul" and not isinstance(by, tuple):
                factor = self._factor(name, by, equation.invars[0])
            case _:
                pass
        if factor is None:
            _used(given)
            return None
        of, times = next(each for each in given if isinstance(each, tuple))
        return of, times * factor

    def _factor(self, name: str, value: float | None, other: Any) -> float | None:
        """What a number multiplies a sum by; None where it makes something else of it."""
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

    def _summed(self, equation: Equation, variable: Any, before: _Known, place: Place) -> _Known:
        """A sum over the devices: of gradients, or of such a sum once more."""
        count = self._along(equation, place)
        if isinstance(before, tuple):
            return before[0], before[1] * count
        shape = tuple(variable.aval.shape)
        size = self._state[shape]
        if not shape or not size or count == 1:
            return None
        if count != self._devices:
            raise _Unknown
        asked = "transpose(" not in place.scope
        made = _Sum(prod(shape) * variable.aval.dtype.itemsize, line(equation), asked)
        self.sums.append(made)
        return made, float(count)

    def _along(self, equation: Equation, place: Place) -> int:
        """The devices that a sum joins."""
        axes = equation.params.get("axes", equation.params.get("axis_name", ()))
        return prod((place.sizes or {}).get(str(name), 1) for name in parts(axes))


def _used(values: Sequence[_Known]) -> None:
    """Something else is made of the sums among them."""
    for each in values:
        if isinstance(each, tuple):
            of, times = each
            of.times = min(of.times, times)
