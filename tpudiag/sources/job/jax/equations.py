"""The equations of a traced step: how often each runs, on which devices, from which argument."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from math import prod
from typing import Any

from tpudiag.sources.job.jax.programs import (
    RECOMPUTED,
    Equation,
    Follower,
    Place,
    Program,
    carried,
    parts,
    within,
)
from tpudiag.sources.job.tensorflow.graphs.matrix_products import Product

STATE_SHARE = 0.5
"""Of the state, carried by a loop: it trains, a step in each turn."""
LITERAL = -1
SEVERAL = 2
"""Steps of a loop whose end only its data tell."""
PRODUCTS = ("dot_general", "conv_general_dilated")
_PASSES = {
    "HIGH": 3, "HIGHEST": 6, "BF16_BF16_F32_X3": 3, "BF16_BF16_F32_X6": 6, "F32_F32_F32": 6,
}  # fmt: skip
"""Products in bfloat16 that stand for one in float32, by what jax.lax.Precision names."""


@dataclass(frozen=True)
class Seen:
    """An equation of the step, and how often it runs in one call."""

    equation: Equation
    place: Place
    given: tuple[int, ...]
    """A number of each value that it reads, the same one in the programs within others."""
    gives: tuple[int, ...]

    @property
    def again(self) -> bool:
        """Whether jax.checkpoint computes it again for the backward pass."""
        return RECOMPUTED in self.place.scope

    @property
    def forward(self) -> bool:
        """Whether it gives something on the way to what is differentiated."""
        known = "jvp(" in self.place.scope and "transpose(" not in self.place.scope
        return known and bool(self.equation.outvars)

    @property
    def made(self) -> list[tuple[tuple[int, ...], int]]:
        """Shape and bytes of an element of each array that it makes."""
        return [_shape(variable) for variable in self.equation.outvars]

    @property
    def read(self) -> list[tuple[tuple[int, ...], int]]:
        """The same of those that it reads."""
        return [_shape(variable) for variable in self.equation.invars]


class Equations(Follower[int]):
    """All equations of a program, those within others with them; a loop's as often as it turns."""

    def __init__(self, jaxpr: Program, state: frozenset[int]) -> None:
        """`state` are the arguments, by their number, that go from one call to the next."""
        self.seen: list[Seen] = []
        self.steps = 1
        """Training steps of a call: the turns of a loop that carries the state."""
        self.shared_out: frozenset[int] = frozenset()
        """Arguments of which each of these steps gets a part of its own."""
        self.mapped: dict[int, tuple[Any, Any]] = {}
        """Arguments that a shard_map takes, with its mesh and how it shares them out."""
        self.gathered: dict[int, Equation] = {}
        """Arguments of which a shard_map gathers the parts on each device."""
        self._state = {n: prod(s) * size for n in state for s, size in [_shape(jaxpr.invars[n])]}
        self._arguments = range(len(jaxpr.invars))
        self._numbers = count(len(jaxpr.invars))
        self.follow(jaxpr, self._arguments)

    def unknown(self, variable: Any) -> int:
        """Numbers in the place of variables have none of their own; other constants have."""
        return LITERAL if hasattr(variable, "val") else -id(variable)

    def made(self, equation: Equation, given: list[int], place: Place) -> list[int]:
        """A number for each result; those of the arguments are the first."""
        name, about = str(equation.primitive), equation.params
        gives = [next(self._numbers) for _ in equation.outvars]
        self.seen.append(Seen(equation, place, tuple(given), tuple(gives)))
        if name == "shard_map":  # in_specs: before JAX 0.7 in_names
            specs = zip(given, about.get("in_specs") or about["in_names"], strict=False)
            for number, spec in specs:
                if number in self._arguments:
                    self.mapped.setdefault(number, (about["mesh"], spec))
        elif name == "all_gather" and given[0] in self._arguments:
            self.gathered[given[0]] = equation
        elif name in ("scan", "while"):
            self._loop(equation, given, place.times)
        return gives

    def fixed_factors(self, constants: Iterable[tuple[int, tuple[int, ...]]]) -> set[int]:
        """Constants, by their numbers and shapes, that a product takes, and none gives anew.

        A gradient of it would be made by a product, in its shape or turned.
        """
        shapes = dict(constants)
        same, found = {number: number for number in shapes}, set[int]()
        for seen in self.seen:
            own = [same[number] for number in seen.given if number in same]
            name = str(seen.equation.primitive)
            if name in PRODUCTS:
                found.update(own)
                made = sorted(seen.made[0][0])
                shapes = {n: shape for n, shape in shapes.items() if sorted(shape) != made}
            elif own and name in ("convert_element_type", "reshape", "transpose"):
                same[seen.gives[0]] = own[0]
        return found & shapes.keys()

    def _loop(self, equation: Equation, given: list[int], times: int) -> None:
        """A loop: of training steps, if most of the state goes from one turn to the next."""
        first, after = carried(equation)
        turns = int(equation.params.get("length", SEVERAL))
        state = sum(self._state.get(n, 0) for n in given[first:after])
        if turns > 1 and state > STATE_SHARE * sum(self._state.values()):
            self.steps = max(self.steps, times * turns)
            self.shared_out |= {n for n in given[after:] if n in self._arguments}


def product(equation: Equation, batch: int = 0) -> Product | None:
    """The sizes of a product, the batch among its rows; None of other equations."""
    kind = str(equation.primitive)
    if kind not in PRODUCTS:
        return None
    return _dot(equation, batch) if kind == "dot_general" else _convolution(equation)


def _dot(equation: Equation, batch: int) -> Product:
    """A dot_general; of weights that come first (`w @ x`, mapped over examples) as it is turned."""
    (left_c, right_c), (left_b, right_b) = equation.params["dimension_numbers"]
    left, right = (variable.aval.shape for variable in equation.invars[:2])
    rows = [s for i, s in enumerate(left) if i not in (*left_c, *left_b)]
    columns = [s for i, s in enumerate(right) if i not in (*right_c, *right_b)]
    if batch in columns and batch not in rows:
        rows, columns = columns, rows
    many, contraction = prod(left[i] for i in left_b), prod(left[i] for i in left_c)
    return Product(many, prod(rows), contraction, prod(columns))


def _convolution(equation: Equation) -> Product:
    """Output positions, kernel x input channels, output channels."""
    numbers = equation.params["dimension_numbers"]
    kernel = equation.invars[1].aval.shape
    result = equation.outvars[0].aval.shape
    columns = kernel[numbers.rhs_spec[0]]
    rows = prod(result) // max(result[numbers.out_spec[1]], 1)
    return Product(1, rows, prod(kernel) // max(columns, 1), columns)


def passes(equation: Equation) -> int:
    """How often the MXU goes through a product for the precision that was asked of it."""
    if any(str(variable.aval.dtype) != "float32" for variable in equation.invars[:2]):
        return 1  # bfloat16 is whole in one
    asked = {getattr(each, "name", str(each)) for each in parts(equation.params.get("precision"))}
    return max((_PASSES.get(each, 1) for each in asked), default=1)


def _shape(variable: Any) -> tuple[tuple[int, ...], int]:
    """Shape and bytes of an element; those of what is no array take nothing."""
    shape, dtype = getattr(variable.aval, "shape", None), getattr(variable.aval, "dtype", None)
    return tuple(shape or ()), int(getattr(dtype, "itemsize", 0)) if shape is not None else 0


def live_bytes(jaxpr: Program) -> int:
    """The most that its arrays take at once on all devices together, as if none were joined."""
    last = {id(v): n for n, equation in enumerate(jaxpr.eqns) for v in equation.invars}
    last |= dict.fromkeys(map(id, jaxpr.outvars), len(jaxpr.eqns))
    alive = {id(variable): _bytes(variable) for variable in jaxpr.invars}
    now = most = sum(alive.values())
    for number, equation in enumerate(jaxpr.eqns):
        # What a program within another takes beside what it is given.
        own = (live_bytes(inner) - sum(map(_bytes, inner.invars)) for inner in within(equation))
        inside = max(own, default=0)
        made = {id(variable): _bytes(variable) for variable in equation.outvars}
        most = max(most, now + max(inside, sum(made.values())))
        alive |= made
        over = {*map(id, equation.invars), *made}
        gone = sum(alive.pop(v, 0) for v in over if last.get(v, -1) <= number)
        now += sum(made.values()) - gone
    return most


def _bytes(variable: Any) -> int:
    shape, size = _shape(variable)
    return prod(shape) * size
