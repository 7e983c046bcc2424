"""Reads the optimised HLO of the TPU compiler: cycles, padding, recomputation, collectives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from tpudiag.compiled import Collective, HbmTensor, Program

BITS = {"pred": 8, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "s16": 16, "u16": 16, "f16": 16,
        "bf16": 16, "s32": 32, "u32": 32, "f32": 32, "s64": 64, "u64": 64, "f64": 64}  # fmt: skip
KEPT = 10
"""Tensors and products that are kept, the worst of them."""
_HEADER = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{\s*$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%([\w.\-]+) = ")
_OPCODE = re.compile(r" ?([a-z][\w\-]*)\(")
_SHAPE = re.compile(r"(\w+)\[([\d,]*)\](?:\{([\d,]*)(?::([^}]*))?\})?")
_TILE = re.compile(r"T\(([\d,*]+)\)")
_CYCLES = re.compile(r'"estimated_cycles":"(\d+)"')
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_CALLED = re.compile(r"(?:body|condition|to_apply|calls)=%([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_COPIED = re.compile(r"\.remat\d*(\.|_|$)")
_COLLECTIVE = re.compile(
    r"(all-reduce|reduce-scatter|all-gather|all-to-all|collective-permute)(-start)?$"
)
_NO_BUFFER = frozenset(
    ("tuple", "get-tuple-element", "bitcast", "while", "conditional", "call", "opt-barrier",
     "after-all", "copy-start", "all-reduce-start", "all-gather-start", "async-start",
     "async-update", "slice-start", "collective-permute-start")
)  # fmt: skip
"""Operations whose result is another's buffer, or holds one."""


class Instruction(NamedTuple):
    """One line of HLO text."""

    name: str
    shape: str
    opcode: str
    rest: str

    @property
    def made_by(self) -> str:
        """The TensorFlow operation behind it, the argument, or its own name."""
        if self.opcode == "parameter":
            return f"argument {self.rest.partition(')')[0]}"
        found = _OP_NAME.search(self.rest)
        return found[1] if found and found[1] not in ("", "XLA_Args", "XLA_Retvals") else self.name


class _Unbounded(Exception):
    """A loop whose length the program does not tell."""


def read(text: str) -> Program:
    """What an optimised module says."""
    entry, computations = _computations(text)
    held = tuple(_held(entry, computations))
    recomputed = [i for i in held if _COPIED.search(i.name)]
    try:
        cycles = _cycles(entry, computations)
    except _Unbounded:
        cycles = None
    return Program(
        cycles=cycles,
        recomputed=tuple(i.name for i in recomputed),
        recomputed_cycles=sum(_own_cycles(i) for i in recomputed),
        padded=_worst(held, entry, computations),
        collectives=_collectives(held),
        sharded_update="cross-replica-sharding" in text,
        products=_products(held),
    )


def _computations(text: str) -> tuple[str, dict[str, list[Instruction]]]:
    """The entry's name, and the instructions of each computation."""
    found: dict[str, list[Instruction]] = {}
    entry, current = "", ""
    for line in text.splitlines():
        header = _HEADER.match(line)
        if header and not line.startswith("HloModule"):
            current = header[2]
            found[current] = []
            entry = current if header[1] else entry
        elif current and (instruction := _instruction(line)) is not None:
            found[current].append(instruction)
    return entry, found


def _instruction(line: str) -> Instruction | None:
    """A line as an instruction, None where it is none."""
    named = _INSTRUCTION.match(line)
    if named is None:
        return None
    end = _type_end(line, named.end())
    opcode = _OPCODE.match(line, end)
    if opcode is None:
        return None
    return Instruction(named[1], line[named.end() : end], opcode[1], line[opcode.end() :])


def _type_end(line: str, start: int) -> int:
    """Where a type that starts here ends: at a space outside all brackets."""
    depth = 0
    for at in range(start, len(line)):
        character = line[at]
        if character in "({[":
            depth += 1
        elif character in ")}]":
            depth -= 1
        elif character == " " and depth == 0:
            return at
    return len(line)


def _called(instruction: Instruction) -> list[str]:
    """The computations that an instruction runs, those of fusions and reductions left out."""
    if instruction.opcode in ("while", "call", "async-start"):
        return _CALLED.findall(instruction.rest)
    if instruction.opcode == "conditional":
        branches = _BRANCHES.search(instruction.rest)
        names = branches[1].split(",") if branches else []
        return [name.strip().removeprefix("%") for name in names]
    return []


def _held(name: str, computations: Mapping[str, list[Instruction]]) -> Iterator[Instruction]:
    """The instructions that run by themselves, each once: none from inside a fusion."""
    for instruction in computations.get(name, ()):
        yield instruction
        for called in _called(instruction):
            yield from _held(called, computations)


def _own_cycles(instruction: Instruction) -> int:
    """The compiler's estimate for one instruction, 0 where it has none."""
    found = _CYCLES.search(instruction.rest)
    return int(found[1]) if found else 0


def _cycles(name: str, computations: Mapping[str, list[Instruction]]) -> int:
    """The estimate for a computation: loops times their length, the longest of branches."""
    total = 0
    for instruction in computations.get(name, ()):
        total += _own_cycles(instruction)
        inner = [_cycles(called, computations) for called in _called(instruction)]
        if instruction.opcode == "while" and any(inner):
            trips = _TRIPS.search(instruction.rest)
            if trips is None:
                raise _Unbounded
            total += int(trips[1]) * sum(inner)
        elif instruction.opcode == "conditional":
            total += max(inner, default=0)
        else:
            total += sum(inner)
    return total


def sizes(shape: str) -> tuple[int, int] | None:
    """Bytes of one array in HBM without and with its padding; None for what lies elsewhere."""
    found = _SHAPE.match(shape)
    if found is None or found[1] not in BITS or "S(" in (found[4] or ""):
        return None
    dims = [int(size) for size in found[2].split(",") if size]
    places = [int(place) for place in (found[3] or "").split(",") if place]
    tile = _TILE.search(found[4] or "")
    full = dims.copy()
    if tile and sorted(places) == list(range(len(dims))):
        lengths = [int(size) for size in tile[1].split(",") if size.isdigit()]
        for place, length in zip(places, reversed(lengths), strict=False):
            full[place] = -(-dims[place] // length) * length if length else dims[place]
    bits = BITS[found[1]]
    return prod(dims) * bits // 8, prod(full) * bits // 8


def _worst(
    held: Iterable[Instruction], entry: str, computations: Mapping[str, list[Instruction]]
) -> tuple[HbmTensor, ...]:
    """The tensors that lose most to padding; one entry for each operation and shape."""
    own = {instruction.name for instruction in computations.get(entry, ())}
    found: dict[tuple[str, str], HbmTensor] = {}
    for instruction in held:
        if instruction.opcode in _NO_BUFFER:
            continue
        if instruction.opcode == "parameter" and instruction.name not in own:
            continue
        for shape in _SHAPE.finditer(instruction.shape):
            size = sizes(shape[0])
            if size is not None and size[1] > size[0]:
                tensor = HbmTensor(instruction.made_by, shape[0], *size)
                found.setdefault((tensor.name, tensor.shape), tensor)
    return tuple(
        sorted(found.values(), key=lambda t: (t.logical_bytes - t.padded_bytes, t.name))[:KEPT]
    )


def _collectives(held: Iterable[Instruction]) -> tuple[Collective, ...]:
    """The collectives by kind; one that was started counts its result, half of its shapes."""
    found: dict[str, tuple[int, int]] = {}
    for instruction in held:
        kind = _COLLECTIVE.match(instruction.opcode)
        if kind is None:
            continue
        arrays = [
            prod(int(size) for size in shape[2].split(",") if size) * BITS.get(shape[1], 32) // 8
            for shape in _SHAPE.finditer(instruction.shape)
        ]
        if kind[2] and kind[1] != "all-reduce":
            arrays = arrays[1:2]
        count, size = found.get(kind[1], (0, 0))
        found[kind[1]] = (count + 1, size + sum(arrays))
    return tuple(Collective(kind, *found[kind]) for kind in sorted(found))


def _products(held: Iterable[Instruction]) -> tuple[tuple[str, int], ...]:
    """The instructions with matrix products, and their cycles."""
    found: dict[str, int] = {}
    for instruction in held:
        if "convolution_algorithm_config" in instruction.rest or instruction.opcode in (
            "convolution", "dot",
        ):  # fmt: skip
            found[instruction.made_by] = found.get(instruction.made_by, 0) + _own_cycles(
                instruction
            )
    return tuple(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:KEPT])
