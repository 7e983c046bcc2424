"""Parses an optimised program into instructions: names, types, operands, calls."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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
_INDEX = re.compile(r"index=(\d+)")
# TensorFlow's names for all arguments and all results, which are no operations.
_PLUMBING = frozenset(("XLA_Args", "XLA_Retvals", ""))


LONGEST = 2**31 - 1
"""The largest counter value, which is no limit."""
COPIES = 5


@dataclass(frozen=True)
class Instruction:
    """One line of HLO text."""

    name: str
    shape: str
    opcode: str
    rest: str
    """The text after the opening bracket of its operands."""
    root: bool = False

    @cached_property
    def results(self) -> tuple[Array, ...]:
        """The arrays of its result."""
        return arrays(self.shape)

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """The names of its operands."""
        return tuple(_OPERAND.findall(self.rest[: _closing(self.rest)]))

    @property
    def attributes(self) -> str:
        """The text after its operands."""
        return self.rest[_closing(self.rest) :]

    @property
    def cycles(self) -> int | None:
        """The compiler's estimate; None where there is none."""
        estimate = _CYCLES.search(self.rest)
        return int(estimate[1]) if estimate else None

    @property
    def op_name(self) -> str:
        """The framework operation that it was made for; empty where there is none."""
        name = _OP_NAME.search(self.rest)
        return name[1] if name and name[1] not in _PLUMBING else ""

    @property
    def computations(self) -> tuple[str, ...]:
        """The computations that it names; a loop's body twice, since it is visited twice."""
        called = _CALLS.findall(self.rest)
        return (*called, *self.branches, *(called if self.opcode == "while" else ()))

    def called(self, attribute: str) -> str:
        """The computation named by an attribute; empty where there is none."""
        name = re.search(rf"\b(?:{attribute})=\{{?%([\w.\-]+)", self.rest)
        return name[1] if name else ""

    @property
    def branches(self) -> tuple[str, ...]:
        """The computations of a conditional."""
        names = [both or one for both, one in _BRANCHES.findall(self.rest)]
        return tuple(part.strip().lstrip("%") for name in names for part in name.split(","))


EMPTY: Mapping[str, Instruction] = {}


@dataclass(frozen=True)
class Module:
    """An optimised program: its computations, and which of them is the step."""

    entry: str
    computations: dict[str, tuple[Instruction, ...]]

    def instructions(self, computation: str) -> tuple[Instruction, ...]:
        """The instructions of a computation; none where it does not exist."""
        return self.computations.get(computation, ())

    def trips(self, loop: Instruction, made: Mapping[str, Instruction] = EMPTY) -> int | None:
        """A loop's iterations: from the constant in its condition; None where unknown.

        The TPU compiler mostly omits `known_trip_count`. A limit carried by the loop is searched in
        its initial values, among `made`.
        """
        known = _TRIPS.search(loop.rest)
        if known:
            return int(known[1])
        condition = loop.called("condition")
        # An optimised condition compares its counter with a constant, the length of a loop from 0
        # by 1 as made by TensorFlow and JAX.
        limits = [count for count in self._counts(condition) if 0 < count < LONGEST]
        if not limits:
            limits = [count for count in self._carried(loop, condition, made) if count > 0]
        # The smallest above 1: a condition may also contain a larger limit, and a step of 1.
        return min((count for count in limits if count > 1), default=max(limits, default=None))

    def _counts(self, computation: str) -> Iterator[int]:
        """The integer constants of a computation and of those it calls."""
        for instruction in self.instructions(computation):
            count = _constant(instruction)
            if count is not None:
                yield count
            elif instruction.opcode in ("fusion", "call"):
                yield from self._counts(instruction.called("calls|to_apply"))

    def _carried(
        self, loop: Instruction, condition: str, made: Mapping[str, Instruction]
    ) -> Iterator[int]:
        """The constant initial values of the carried elements read by the condition."""
        start = made.get(loop.operands[0]) if loop.operands else None
        if start is None or start.opcode != "tuple":
            return
        for number in self._read(condition):
            if number < len(start.operands):
                count = self._value(start.operands[number], made)
                if count is not None:
                    yield count

    def _value(self, name: str, made: Mapping[str, Instruction]) -> int | None:
        """The constant behind a name, following copies and counters of finished loops."""
        for _ in range(COPIES):
            instruction = made.get(name)
            if instruction is None or not instruction.operands:
                return None if instruction is None else _constant(instruction)
            if instruction.opcode == "get-tuple-element":
                return self._left(instruction, made)
            if instruction.opcode not in ("copy", "bitcast", "reshape"):
                return None
            name = instruction.operands[0]
        return None

    def _left(self, part: Instruction, made: Mapping[str, Instruction]) -> int | None:
        """The final value of a loop's element: its length where it counts from 0.

        A gradient's loop runs as often as the loop before it counted.
        """
        loop, place = made.get(part.operands[0]), _INDEX.search(part.rest)
        if loop is None or loop.opcode != "while" or place is None:
            return None
        read = self._read(loop.called("condition"))
        return self.trips(loop, made) if int(place[1]) in read else None

    def _read(self, condition: str) -> list[int]:
        """The elements of a loop's tuple that its condition reads."""
        return [
            int(place[1])
            for each in self.instructions(condition)
            if each.opcode == "get-tuple-element" and (place := _INDEX.search(each.rest))
        ]


def _constant(instruction: Instruction) -> int | None:
    if instruction.opcode != "constant" or not re.match(r"[su]\d+\[\]", instruction.shape):
        return None
    count = _COUNT.match(instruction.rest)
    return int(count[1]) if count else None


def parse(text: str) -> Module:
    """The module of an HLO text."""
    computations: dict[str, list[Instruction]] = {}
    entry, current = "", ""
    for line in text.splitlines():
        # Most lines of a program are indented: skip the expression for them.
        header = _HEADER.match(line) if line[:1] not in (" ", "}", "") else None
        if header and not line.startswith("HloModule"):
            current = header[2]
            computations[current] = []
            entry = current if header[1] else entry
        elif current and (instruction := instruction_of(line)) is not None:
            computations[current].append(instruction)
        elif current and computations[current] and line not in ("", "}"):
            last = computations[current][-1]  # attributes of kernels span several lines
            computations[current][-1] = replace(last, rest=last.rest + line)
    return Module(entry, {name: tuple(lines) for name, lines in computations.items()})


def instruction_of(line: str) -> Instruction | None:
    """A line as an instruction, None for others."""
    named = _NAME.match(line)
    if named is None:
        return None
    start = named.end()  # of a type: it ends at a space outside all brackets
    end = _closing(line, start + 1) + 1 if line.startswith("(", start) else line.find(" ", start)
    end = len(line) if end < 0 else end
    opcode = _OPCODE.match(line, end)
    if opcode is None:
        return None
    shape = line[start:end]
    return Instruction(named[2], shape, opcode[1], line[opcode.end() :], named[1] is not None)


def _closing(text: str, start: int = 0) -> int:
    """The position of the bracket that closes the one open at the start."""
    depth = 1
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.start()
    return len(text)
