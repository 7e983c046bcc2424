"""Random keys of a traced step: which draws share one, and the origin of each.

Keys are followed by what they are computed of: two that are made in the same way of the same are
the same key, whatever the code calls them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.step_numerics import SameDraws, SameDrawsKind
from tpudiag.sources.job.jax import equations
from tpudiag.sources.job.jax.equations import Equation, Program
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


@dataclass(frozen=True)
class _Draw:
    """Random numbers that are drawn."""

    key: _Value
    shape: tuple[int, ...]
    location: Location | None
    local: bool
    turns: int
    """Of the innermost loop around it; 1 where there is none."""


class RandomKeys:
    """All draws of a step."""

    def __init__(self, jaxpr: Program) -> None:
        self.draws: list[_Draw] = []
        self._numbers: dict[object, int] = {}
        known = {
            id(v): _Value(self._number("argument", n), frozenset((n,)))
            for n, v in enumerate(jaxpr.invars)
        }
        self._walk(jaxpr, known, None, local=False, turns=1)

    def same(
        self, rows: int, devices: int, fixed: frozenset[int] | None, alike: frozenset[int]
    ) -> Iterator[SameDraws]:
        """Draws that come again, of a device's batch of so many rows.

        `fixed` arguments are the same in each step (None: that is not known), `alike` ones on each
        device.
        """
        first: dict[int, _Draw] = {}
        for draw in self.draws:
            key, of_batch = draw.key, draw.shape[:1] in ((rows,), (rows // draw.turns,))
            stays = fixed is not None and key.arguments <= fixed and not key.turns
            each_step = stays and (of_batch or draw.shape[:1] == (rows * devices,))
            before = first.setdefault(key.made, draw)
            kind: SameDrawsKind | None = None
            if before is not draw and before.location != draw.location:
                kind = "twice"
            elif draw.turns > 1 and not key.turns:
                kind = "turns"
            elif draw.local and devices > 1 and key.apart <= alike and of_batch:
                kind = "replicas"
            elif each_step:
                kind = "steps"
            if kind is not None:
                yield SameDraws(
                    kind=kind,
                    shape=draw.shape,
                    copies={"twice": 2, "turns": draw.turns, "replicas": devices}.get(kind, 0),
                    location=draw.location,
                    first=before.location if kind == "twice" else None,
                    each_step=each_step and kind == "replicas",
                )

    def _number(self, *made: object) -> int:
        """One for each way in which something is computed."""
        return self._numbers.setdefault(made, len(self._numbers))

    def _of(self, known: dict[int, _Value], variable: Any) -> _Value:
        """What is known of a variable, or of a number that stands in its place."""
        if id(variable) in known:
            return known[id(variable)]
        return _Value(self._number("number", str(getattr(variable, "val", id(variable)))))

    def _walk(
        self,
        jaxpr: Program,
        known: dict[int, _Value],
        at: Location | None,
        *,
        local: bool,
        turns: int,
    ) -> dict[int, _Value]:
        """One program; `at` is the line of the call of a library's whose program it is."""
        for variable in jaxpr.constvars:
            known.setdefault(id(variable), _Value(self._number("constant", id(variable))))
        for equation in jaxpr.eqns:
            if equations.RECOMPUTED in equations.scope(equation):
                continue  # the same numbers once more, as they are meant
            given = [self._of(known, variable) for variable in equation.invars]
            inner = equations.within(equation)
            results = [self._made(equation, given, n) for n in range(len(equation.outvars))]
            if str(equation.primitive) in _DRAWS:
                shape = tuple(getattr(equation.outvars[0].aval, "shape", ()))
                where = at or equations.line(equation)
                self.draws.append(_Draw(given[0], shape, where, local, turns))
            # The cached program of a library's own draw has the lines of its first caller.
            own = str(equation.params.get("name", "")).startswith("_")
            where = (at or equations.line(equation)) if own else at
            for program in inner:
                made = self._inside(equation, program, given, where, local, turns)
                results = made or results
            known |= {id(v): r for v, r in zip(equation.outvars, results, strict=False)}
        return known

    def _inside(
        self, equation: Equation, program: Program, given: list[_Value], at: Location | None,
        local: bool, turns: int,
    ) -> list[_Value] | None:  # fmt: skip
        """A program within another; what it gives, where that is what its equation gives."""
        name, count = str(equation.primitive), len(program.invars)
        outer = list(equation.invars)[-count:]
        values = given[-count:]
        loops = name in _LOOPS
        length = int(equation.params.get("length", 1) or 1) if loops else 1
        constants = int(equation.params.get("num_consts", 0)) if loops else count
        known: dict[int, _Value] = {}
        for place, (own, value, variable) in enumerate(
            zip(program.invars, values, outer, strict=False)
        ):
            is_part = name in _PER_DEVICE and own.aval.shape != variable.aval.shape
            known[id(own)] = replace(
                value,
                made=self._number("turn", id(equation), place)
                if place >= constants
                else value.made,
                apart=(value.arguments or _NONE_KNOWN) if is_part else value.apart,
                turns=(place >= constants) if loops else value.turns,
            )
        known = self._walk(
            program,
            known,
            at,
            local=local or name in _PER_DEVICE,
            turns=length if length > 1 else turns,
        )
        if loops or len(program.outvars) != len(equation.outvars):
            return None
        return [self._of(known, variable) for variable in program.outvars]

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
