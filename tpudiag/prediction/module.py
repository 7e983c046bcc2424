"""The text of an optimised program as instructions: names, types, operands, what each calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tpudiag.prediction.arrays import Array, arrays

_HEADER = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{\s*$")
_NAME = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = ")
_OPCODE = re.compile(r" ?([a-z][\w\-]*)\(")
_OPERAND = re.compile(r"%([\w.\-]+)")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_CALLS = re.compile(r"(?:calls|to_apply|body|condition|called_computations)=\{?%([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}|(?:true|false)_computation=%([\w.\-]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_CYCLES = re.compile(r'"estimated_cycles":"(\d+)"')
_BRACKET = re.compile(r"[()]")
_COUNT = re.compile(r"^(\d+)\)")
_PLUMBING = frozenset(("XLA_Args", "XLA_Retvals", ""))


@dataclass(frozen=True)
class Instruction:
    """One line of HLO text."""

    name: str
    shape: str
    opcode: str
    rest: str
    """What follows the opening bracket of its operands."""
    root: bool = False

    @cached_property
    def results(self) -> tuple[Array, ...]:
        """The arrays that it makes."""
        return arrays(self.shape)

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """The names of what it reads."""
        return tuple(_OPERAND.findall(self.rest[: _closing(self.rest)]))

    @property
    def attributes(self) -> str:
        """What follows its operands."""
        return self.rest[_closing(self.rest) :]

    @property
    def cycles(self) -> int | None:
        """The compiler's estimate of it; None where it has none."""
        estimate = _CYCLES.search(self.rest)
        return int(estimate[1]) if estimate else None

    @property
    def op_name(self) -> str:
        """The operation of the framework that it was made for; empty where it has none."""
        name = _OP_NAME.search(self.rest)
        return name[1] if name and name[1] not in _PLUMBING else ""

    def called(self, attribute: str) -> str:
        """The computation that an attribute names; empty where it names none."""
        name = re.search(rf"\b{attribute}=\{{?%([\w.\-]+)", self.rest)
        return name[1] if name else ""

    @property
    def branches(self) -> tuple[str, ...]:
        """The computations of a conditional."""
        names = [both or one for both, one in _BRANCHES.findall(self.rest)]
        return tuple(part.strip().lstrip("%") for name in names for part in name.split(","))


@dataclass(frozen=True)
class Module:
    """An optimised program: its computations, and which of them is the step."""

    entry: str
    computations: dict[str, tuple[Instruction, ...]]

    def instructions(self, computation: str) -> tuple[Instruction, ...]:
        """Those of one computation; none where there is no such one."""
        return self.computations.get(computation, ())

    def trips(self, loop: Instruction) -> int | None:
        """How often a loop runs: from the constant in its condition; None where it is open.

        The TPU compiler's programs leave out `known_trip_count` mostly.
        """
        known = _TRIPS.search(loop.rest)
        if known:
            return int(known[1])
        return max(self._counts(loop.called("condition")), default=None)

    def _counts(self, computation: str) -> Iterator[int]:
        """The integer constants of a computation and of what it calls."""
        for instruction in self.instructions(computation):
            if instruction.opcode == "constant" and re.match(r"[su]\d+\[\]", instruction.shape):
                count = _COUNT.match(instruction.rest)
                if count:
                    yield int(count[1])
            elif instruction.opcode in ("fusion", "call"):
                yield from self._counts(instruction.called("calls|to_apply"))


def parse(text: str) -> Module:
    """The module of an HLO text."""
    computations: dict[str, list[Instruction]] = {}
    entry, current = "", ""
    for line in text.splitlines():
        header = _HEADER.match(line) if line[:1] not in (" ", "}", "") else None
        if header and not line.startswith("HloModule"):
            current = header[2]
            computations[current] = []
            entry = current if header[1] else entry
        elif current and (instruction := instruction_of(line)) is not None:
            computations[current].append(instruction)
    return Module(entry, {name: tuple(lines) for name, lines in computations.items()})


def instruction_of(line: str) -> Instruction | None:
    """A line as an instruction, None where it is none."""
    named = _NAME.match(line)
    if named is None:
        return None
    end = _type_end(line, named.end())
    opcode = _OPCODE.match(line, end)
    if opcode is None:
        return None
    shape = line[named.end() : end]
    return Instruction(named[2], shape, opcode[1], line[opcode.end() :], named[1] is not None)


def _type_end(line: str, start: int) -> int:
    """Where a type that starts here ends: at a space outside all brackets."""
    if not line.startswith("(", start):
        end = line.find(" ", start)
        return len(line) if end < 0 else end
    return _closing(line, start + 1) + 1


def _closing(text: str, start: int = 0) -> int:
    """Where the bracket closes that is open at the start."""
    depth = 1
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.start()
    return len(text)
