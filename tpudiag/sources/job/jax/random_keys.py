"""Random keys of a traced step: which draws share one, and the origin of each.

Keys are followed by what they are computed of: two that are made in the same way of the same are
the same key, whatever the code calls them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.step_numerics import SameDraws, SameDrawsKind
from tpudiag.sources.job.jax.programs import (
    RECOMPUTED,
    Equation,
    Follower,
    Place,
    Program,
    carried,
    line,
)
from tpudiag.sources.job.points import Kwargs

_DRAWS = frozenset(("random_bits", "random_gamma", "threefry2x32"))
_SAME_KEY = frozenset(("random_wrap", "random_unwrap", "copy", "convert_element_type"))
_LOOPS = frozenset(("scan", "while"))
_PER_DEVICE = frozenset(("shard_map", "xla_pmap"))
_NONE_KNOWN = frozenset((-1,))
"""Of what no argument is known to stand for: it may differ in any way."""
_PLAIN = (int, float, str, tuple, type(None))
"""Parameters that say all of what an equation does."""


@dataclass(frozen=True)
class _Value:
    """What a variable is computed of."""

    made: int
    """The same of two that are computed in the same way of the same."""
    arguments: frozenset[int] = frozenset()
    """Of the step, by their number."""
    apart: frozenset[int] = frozenset()
    """Those of them of which each device has a part of its own."""
    turns: bool = False
    """It may differ between the turns of the innermost loop."""


class RandomKeys(Follower[_Value]):
    """All draws of a step."""

    def __init__(self, jaxpr: Program) -> None:
        self.draws: list[tuple[_Value, tuple[int, ...], Location | None, Place]] = []
        """Of each its key, its shape, its line and where in the step it stands."""
        self._numbers: dict[object, int] = {}
        numbers = range(len(jaxpr.invars))
        self.follow(jaxpr, (_Value(self._number("argument", n), frozenset((n,))) for n in numbers))

    def same(
        self,
        rows: int,
        devices: int,
        fixed: frozenset[int] | None,
        alike: frozenset[int],
        called_at: Location | None = None,
    ) -> Iterator[SameDraws]:
        """Draws that come again, of a device's batch of so many rows.

        `fixed` arguments are the same in each step (None: that is not known), `alike` ones on each
        device. `called_at` is the line that gives the step the same key each time.
        """
        first: dict[int, Location | None] = {}
        for key, shape, location, place in self.draws:
            turns = place.turns
            of_batch = shape[:1] in ((rows,), (rows // turns,))
            stays = fixed is not None and key.arguments <= fixed and not key.turns
            each_step = stays and (of_batch or shape[:1] == (rows * devices,))
            before = first.setdefault(key.made, location)
            kind: SameDrawsKind | None = None
            if before != location:
                kind = "twice"
            elif turns > 1 and not key.turns:
                kind = "turns"
            elif place.sizes and devices > 1 and key.apart <= alike and of_batch:
                kind = "replicas"
            elif each_step:
                kind = "steps"
            if kind is not None:
                given = called_at if kind == "steps" and key.arguments else None
                yield SameDraws(
                    kind=kind,
                    shape=shape,
                    copies={"twice": 2, "turns": turns, "replicas": devices}.get(kind, 0),
                    location=given or location,
                    first=before if kind == "twice" else location if given else None,
                    each_step=each_step and kind == "replicas",
                )

    def _number(self, *made: object) -> int:
        """One for each way in which something is computed."""
        return self._numbers.setdefault(made, len(self._numbers))

    def unknown(self, variable: Any) -> _Value:
        """A constant, or a number that stands in the place of a variable."""
        return _Value(self._number("number", str(getattr(variable, "val", id(variable)))))

    def enters(self, equation: Equation, program: Program, given: list[_Value]) -> list[_Value]:
        """What a loop carries is of each turn; what a device has a part of is apart."""
        name, own = str(equation.primitive), len(program.invars)
        loops = name in _LOOPS
        constants = carried(equation)[0] - len(equation.invars) + own if loops else own
        values, outer = list(given), equation.invars[-own:]
        for n, value in enumerate(given):
            if name in _PER_DEVICE and program.invars[n].aval.shape != outer[n].aval.shape:
                values[n] = replace(value, apart=value.arguments or _NONE_KNOWN)
            if loops and n < constants:
                values[n] = replace(value, turns=False)
            elif loops:
                values[n] = replace(value, made=self._number("turn", id(equation), n), turns=True)
        return values

    def made(self, equation: Equation, given: list[_Value], place: Place) -> list[_Value]:
        """The draws among them are noted."""
        # What is recomputed are the same numbers once more, as they are meant.
        if str(equation.primitive) in _DRAWS and RECOMPUTED not in place.scope:
            shape = tuple(getattr(equation.outvars[0].aval, "shape", ()))
            self.draws.append((given[0], shape, place.call or line(equation), place))
        return [self._made(equation, given, n) for n in range(len(equation.outvars))]

    def _made(self, equation: Equation, given: list[_Value], place: int) -> _Value:
        """What an equation gives."""
        name = str(equation.primitive)
        if name in _SAME_KEY and given:
            return given[0]
        dtype = str(getattr(equation.outvars[place].aval, "dtype", ""))
        if "float" in dtype:  # keys are made of integers: the rest need not be followed
            return _Value(self._number(id(equation), place), _NONE_KNOWN, _NONE_KNOWN, True)
        small: Kwargs = {k: v for k, v in equation.params.items() if isinstance(v, _PLAIN)}
        about = str(sorted(small.items())) if len(small) == len(equation.params) else id(equation)
        here = _NONE_KNOWN if name == "axis_index" else frozenset[int]()
        return _Value(
            self._number(name, about, place, *(value.made for value in given)),
            frozenset[int]().union(*(value.arguments for value in given)),
            here.union(*(value.apart for value in given)),
            any(value.turns for value in given),
        )
