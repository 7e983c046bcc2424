"""What is followed through a traced step: the equations of its program, and of those within it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import CodeType
from typing import Any, Generic, Protocol, TypeVar, cast

from tpudiag.model import Location
from tpudiag.sources.job.points import user_lines

LOOPS = frozenset(("scan", "while", "cond"))
"""What their programs give is not what they give."""
RECOMPUTED = "rematted_computation"
"""In the scope of what jax.checkpoint computes again in the backward pass."""
_OWN = os.path.dirname(__file__)  # noqa: PTH120
T = TypeVar("T")


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
class Place:
    """Where in the step an equation stands."""

    scope: str = ""
    """The transformations and scopes around it, with its own."""
    times: int = 1
    """How often it runs in one call."""
    turns: int = 1
    """Of the innermost loop of several around it."""
    sizes: dict[str, int] | None = None
    """Devices along each axis, within shard_map or jax.pmap: its shapes are those of one device."""
    call: Location | None = None
    """Of a library's own program: it is kept with the lines of its first caller."""
    branch: bool = False
    """It runs only where a condition holds."""

    def within(self, equation: Equation) -> Place:
        """Of the programs that an equation holds."""
        name, about = str(equation.primitive), equation.params
        turns = int(about.get("length", 1) or 1)
        sizes = self.sizes
        if name == "shard_map":
            sizes = {str(k): int(v) for k, v in about["mesh"].shape.items()}
        elif name == "xla_pmap":
            sizes = {str(about["axis_name"]): int(about["global_axis_size"])}
        own = str(about.get("name", "")).startswith("_")
        return replace(
            self,
            times=self.times * turns,
            turns=turns if turns > 1 else self.turns,
            sizes=sizes,
            branch=self.branch or name == "cond",
            call=(self.call or line(equation)) if own else self.call,
        )


class Follower(Generic[T]):
    """Follows what is known of each variable, by what is said of one equation."""

    def follow(self, program: Program, given: Iterable[T], place: Place = Place()) -> list[T]:
        """One program that is given this; what is known of its results."""
        known = {id(v): value for v, value in zip(program.invars, given, strict=False)}
        for equation in program.eqns:
            values = self._of(known, equation.invars)
            at, inner = scope(equation), within(equation)
            if at:  # not `replace`: a large step has 10,000 equations
                at = f"{place.scope}/{at}" if place.scope else at
                here = Place(at, place.times, place.turns, place.sizes, place.call, place.branch)
            else:
                here = place
            made = self.made(equation, values, here)
            for each in inner:
                # What an inner program gets stands last among what its equation gets.
                own = values[max(len(values) - len(each.invars), 0) :]
                results = self.follow(each, self.enters(equation, each, own), here.within(equation))
                made = self.leaves(equation, made, results)
            known |= {id(v): value for v, value in zip(equation.outvars, made, strict=False)}
        return self._of(known, program.outvars)

    def _of(self, known: dict[int, T], variables: Sequence[Any]) -> list[T]:
        return [known[id(v)] if id(v) in known else self.unknown(v) for v in variables]

    nothing: T

    def unknown(self, _variable: Any, /) -> T:
        """Of a constant, or of a number in the place of a variable."""
        return self.nothing

    def made(self, _equation: Equation, _given: list[T], _place: Place, /) -> Sequence[T]:
        """Of what an equation gives; of one that holds programs, before they are followed."""
        raise NotImplementedError

    def enters(self, _equation: Equation, _program: Program, given: list[T], /) -> list[T]:
        """Of what a program within an equation is given."""
        return given

    def leaves(self, equation: Equation, made: Sequence[T], results: list[T], /) -> Sequence[T]:
        """Of what an equation gives that holds a program with these results."""
        same = str(equation.primitive) not in LOOPS and len(results) == len(equation.outvars)
        return results if same else made


def line(equation: Equation, own: CodeType | None = None) -> Location | None:
    """The innermost line of the job's that made an equation; if told, of `own` lines of that."""
    lines = range(own.co_firstlineno, _last(own) + 1) if own is not None else ()
    for frame in _frames(equation):
        if own is not None and (frame.file_name != own.co_filename or frame.line_num not in lines):
            continue
        location = user_lines.of(frame.file_name, frame.line_num)
        if location is not None:
            return location
    return None


def entered(equation: Equation) -> Location | None:
    """The outermost line of the job's that made it within the function which is traced."""
    frames = takewhile(lambda frame: not frame.file_name.startswith(_OWN), _frames(equation))
    lines = (user_lines.of(frame.file_name, frame.line_num) for frame in frames)
    return next(reversed([*filter(None, lines)]), None)


def made_in(equation: Equation, folder: str) -> bool:
    """Whether code in a folder made an equation, or called what did."""
    return any(frame.file_name.startswith(folder) for frame in _frames(equation))


def _frames(equation: Equation) -> Sequence[Any]:
    return getattr(getattr(equation.source_info, "traceback", None), "frames", ())


def _last(code: CodeType) -> int:
    """The last line of a function, with those of the functions within it."""
    inner = (_last(each) for each in code.co_consts if isinstance(each, CodeType))
    return max((*inner, *(at or 0 for _, _, at in code.co_lines())))


def scope(equation: Equation) -> str:
    """The transformations and scopes that an equation stands in."""
    stack = getattr(equation.source_info, "name_stack", "")
    # Older releases of JAX write no transformation around what has no scope.
    names = [each.name for each in getattr(stack, "stack", ())]
    return str(stack) or "".join(f"{name}(" for name in names) + ")" * len(names)


def within(equation: Equation) -> list[Program]:
    """The programs that an equation holds."""
    values = (part for value in equation.params.values() for part in parts(value))
    programs = (getattr(part, "jaxpr", part) for part in values)
    return [program for program in programs if hasattr(program, "eqns")]


def carried(equation: Equation) -> tuple[int, int]:
    """The first place, and that after the last, of what a loop carries among what it reads.

    Shapes tell, as parameters have other names by release: a scan's turns get, and give, slices.
    """
    body = within(equation)[-1]
    beside = len(equation.invars) - len(body.invars)  # what the condition of a `while` reads
    after = beside + _alike(equation.invars[beside:], body.invars)
    return after - _alike(equation.outvars, body.outvars), after


def _alike(outer: Sequence[Any], inner: Sequence[Any]) -> int:
    """How many of a loop's own variables come first that each turn has whole."""
    shapes = ([getattr(v.aval, "shape", None) for v in each] for each in (outer, inner))
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*shapes, strict=False)))


def parts(value: object) -> tuple[Any, ...]:
    """A parameter of an equation, or its parts."""
    if isinstance(value, (tuple, list)):
        return tuple(cast("Iterable[object]", value))
    return (value,)
