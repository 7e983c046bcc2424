"""Reads a lowered program, before the TPU compiler."""

import re
from collections.abc import Iterator
from math import prod

from tpudiag.bounded_numbers import whole
from tpudiag.compiled import HbmTensor, RefusedOp

_BYTES = {"i1": 1, "i8": 1, "ui8": 1, "i16": 2, "ui16": 2, "f16": 2, "bf16": 2, "i32": 4,
          "ui32": 4, "f32": 4, "i64": 8, "ui64": 8, "f64": 8}  # fmt: skip
_PLACE = re.compile(r"^(#loc\d+) = loc\((?:\"((?:[^\"\\]|\\.)*)\"|fused\[(#loc\d+))")
_LINE = re.compile(r"^\s*%[\w:]+ = \"?(?:stablehlo|mhlo|chlo)\.(\w+)")
_RESULT = re.compile(r"tensor<([^<>]*(?:<[^<>]*>)?)>")
_AT = re.compile(r"loc\((#loc\d+)\)\s*$")
KEPT = 5
_FREE = frozenset(("reshape", "constant", "broadcast_in_dim", "iota", "copy"))
"""Operations whose result needs no memory of its own."""


def largest(program: str) -> tuple[HbmTensor, ...]:
    """The largest results, one per TensorFlow operation: before fusion, without padding."""
    tensors: dict[str, HbmTensor] = {}
    for name, operation, result in _results(program):
        size = None if operation in _FREE else _size(result)
        if size is not None and (name not in tensors or tensors[name].logical_bytes < size):
            tensors[name] = HbmTensor(name, _shape(result), size, size)
    return tuple(sorted(tensors.values(), key=lambda t: (-t.logical_bytes, t.name))[:KEPT])


def dynamic(program: str) -> tuple[RefusedOp, ...]:
    """Operations with a bounded or unknown dimension: TensorFlow's name, and the StableHLO kind."""
    # Most steps are static, and the program is megabytes of text: two searches before parsing
    # lines.
    if "tensor<?" not in program and "x?x" not in program:
        return ()
    refused: dict[str, RefusedOp] = {}
    for name, operation, result in _results(program):
        if "?" in result:
            refused.setdefault(name, RefusedOp(f"{operation} of {_shape(result)}", name))
    return tuple(refused.values())[:KEPT]


def _results(program: str) -> Iterator[tuple[str, str, str]]:
    """Of each line that makes one tensor TensorFlow's name, the operation and the result type."""
    names = _names(program)
    for line in program.splitlines():
        operation = _LINE.match(line)
        types = _RESULT.findall(line) if operation else []
        if operation and types:
            place = _AT.search(line)
            yield names.get(place[1] if place else "", operation[1]), operation[1], types[-1]


def _names(program: str) -> dict[str, str]:
    """Location -> the TensorFlow operation's name."""
    named: dict[str, str] = {}
    fused: dict[str, str] = {}
    for line in program.splitlines():
        place = _PLACE.match(line) if line.startswith("#loc") else None
        if place and place[2] is not None:
            named[place[1]] = place[2]
        elif place:
            fused[place[1]] = place[3]
    # A fused location represents several operations: the first one is its origin.
    return named | {place: named.get(first, "") for place, first in fused.items()}


def _size(result: str) -> int | None:
    """Bytes of a tensor type; None where a dimension or its kind is not known."""
    kind = result.split(",", maxsplit=1)[0].rsplit("x", maxsplit=1)[-1]
    if "?" in result or kind not in _BYTES:
        return None
    return prod(n for n in map(whole, result.split("x")[:-1]) if n is not None) * _BYTES[kind]


def _shape(result: str) -> str:
    """`128x784xf32` as f32[128,784]."""
    *dims, kind = result.split(",", maxsplit=1)[0].split("x")
    return f"{kind}[{','.join(dims)}]"
