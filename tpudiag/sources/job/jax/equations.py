"""The equations of a traced step: how often each runs, on which devices, from which argument."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, cast

from tpudiag.model import Location
from tpudiag.sources.job.points import user_lines

RECOMPUTED = "rematted_computation"
"""In the scope of what jax.checkpoint computes again in the backward pass."""
STATE_SHARE = 0.5
"""Of the state, carried by a loop: it trains, a step in each turn."""
SEVERAL = 2
"""Steps of a loop whose end only its data tell."""
PRODUCTS = ("dot_general", "conv_general_dilated")
_PASSES = {
    "HIGH": 3, "HIGHEST": 6, "BF16_BF16_F32_X3": 3, "BF16_BF16_F32_X6": 6, "F32_F32_F32": 6,
}  # fmt: skip
"""Products in bfloat16 that stand for one in float32, by what jax.lax.Precision names."""


class Equation(Protocol):
    """One of a program's, as JAX has it; the variables that it reads and makes have shapes."""

    primitive: object
    params: dict[str, Any]
    invars: Sequence[Any]
    outvars: Sequence[Any]
    source_info: Any


class Program(Protocol):
    """A traced function: a jaxpr."""

    eqns: Sequence[Equation]
    constvars: Sequence[Any]
    invars: Sequence[Any]
    outvars: Sequence[Any]


@dataclass(frozen=True)
class Seen:
    """An equation of the step, and how often it runs in one call."""

    equation: Equation
    times: int
    local: bool
    """Within shard_map or jax.pmap: its shapes are those of one device."""
    scope: str
    """The transformations and scopes that it stands in, with those of the programs around it."""
    holds_others: bool

    @property
    def again(self) -> bool:
        """Whether jax.checkpoint computes it again for the backward pass."""
        return RECOMPUTED in self.scope

    @property
    def forward(self) -> bool:
        """Whether it gives something on the way to what is differentiated."""
        known = "jvp(" in self.scope and "transpose(" not in self.scope
        return known and bool(self.equation.outvars)

    @property
    def made(self) -> list[tuple[tuple[int, ...], int]]:
        """Shape and bytes of an element of each array that it makes."""
        return [_shape(variable) for variable in self.equation.outvars]

    @property
    def read(self) -> list[tuple[tuple[int, ...], int]]:
        """The same of those that it reads."""
        return [_shape(variable) for variable in self.equation.invars]


class Equations:
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
        self._walk(jaxpr, {id(variable): n for n, variable in enumerate(jaxpr.invars)}, 1)

    def _walk(
        self, jaxpr: Program, numbers: dict[int, int], times: int, local: bool = False,
        around: str = "",
    ) -> None:  # fmt: skip
        """One program; `numbers` says which of its variables are arguments of the step."""
        for equation in jaxpr.eqns:
            name, inner = str(equation.primitive), within(equation)
            at = "/".join(filter(None, (around, scope(equation))))
            self.seen.append(Seen(equation, times, local, at, bool(inner)))
            if name == "shard_map":
                about = equation.params  # in_specs: before JAX 0.7 in_names
                for variable, spec in zip(
                    equation.invars, about.get("in_specs") or about["in_names"], strict=False
                ):
                    if id(variable) in numbers:
                        self.mapped.setdefault(numbers[id(variable)], (about["mesh"], spec))
            if name == "all_gather" and id(equation.invars[0]) in numbers:
                self.gathered[numbers[id(equation.invars[0])]] = equation
            if name in ("scan", "while"):
                self._loop(equation, [numbers.get(id(v)) for v in equation.invars], times)
            turns = times * int(equation.params.get("length", 1) or 1)
            for program in inner:
                # What an inner program gets stands last among what its equation gets.
                given = equation.invars[max(len(equation.invars) - len(program.invars), 0) :]
                known = {
                    id(own): numbers[id(outer)]
                    for own, outer in zip(program.invars, given, strict=False)
                    if id(outer) in numbers
                }
                one = local or name in ("shard_map", "xla_pmap")
                self._walk(program, known, turns, one, at)

    def _loop(self, equation: Equation, given: Sequence[int | None], times: int) -> None:
        """A loop: of training steps, if most of the state goes from one turn to the next."""
        about = equation.params
        if "num_carry" in about:
            first, after = about["num_consts"], about["num_consts"] + about["num_carry"]
            turns = int(about["length"])
        else:
            first, after = about["cond_nconsts"] + about["body_nconsts"], len(given)
            turns = SEVERAL
        carried = sum(self._state.get(n, 0) for n in given[first:after] if n is not None)
        if turns > 1 and carried > STATE_SHARE * sum(self._state.values()):
            self.steps = max(self.steps, times * turns)
            self.shared_out |= {n for n in given[after:] if n is not None}


@dataclass(frozen=True)
class Product:
    """A product or convolution as the one product that it is for the MXU."""

    many: int
    rows: int
    contraction: int
    columns: int

    @property
    def flops(self) -> int:
        """Multiplications and additions."""
        return 2 * self.many * self.rows * self.contraction * self.columns


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


def line(equation: Equation) -> Location | None:
    """The innermost line of the job's that made an equation."""
    traceback = getattr(equation.source_info, "traceback", None)
    for frame in getattr(traceback, "frames", ()):
        location = user_lines.of(frame.file_name, frame.line_num)
        if location is not None:
            return location
    return None


def scope(equation: Equation) -> str:
    """The transformations and scopes that an equation stands in."""
    return str(getattr(equation.source_info, "name_stack", ""))


def within(equation: Equation) -> list[Program]:
    """The programs that an equation holds."""
    values = (part for value in equation.params.values() for part in parts(value))
    programs = (getattr(part, "jaxpr", part) for part in values)
    return [program for program in programs if hasattr(program, "eqns")]


def parts(value: object) -> tuple[Any, ...]:
    """A parameter of an equation, or its parts."""
    if isinstance(value, (tuple, list)):
        return tuple(cast("Iterable[object]", value))
    return (value,)


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
        inside = max((_own_bytes(program) for program in within(equation)), default=0)
        made = {id(variable): _bytes(variable) for variable in equation.outvars}
        most = max(most, now + max(inside, sum(made.values())))
        alive |= made
        over = {*map(id, equation.invars), *made}
        gone = sum(alive.pop(v, 0) for v in over if last.get(v, -1) <= number)
        now += sum(made.values()) - gone
    return most


def _own_bytes(jaxpr: Program) -> int:
    """What a program within another takes beside what it is given."""
    return live_bytes(jaxpr) - sum(map(_bytes, jaxpr.invars))


def _bytes(variable: Any) -> int:
    """Of an array."""
    shape, size = _shape(variable)
    return prod(shape) * size
