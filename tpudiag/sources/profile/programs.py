"""Matrix products, estimates and devices of the programs in a profile, from the HLO kept there.

Field numbers: openxla/xla, xla/service/hlo.proto and xla/xla_data.proto.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import NamedTuple, TypeVar

from tpudiag.model import Location
from tpudiag.signals import MatrixOp
from tpudiag.sources.profile import wire
from tpudiag.sources.profile.xspace import Plane

HLO_PLANE, HLO_STAT = "/host:metadata", "Hlo Proto"
PROGRAM = re.compile(r".*\((\d+)\)")
ESTIMATE = b'"estimated_cycles"'
CYCLES = re.compile(r'"estimated_cycles":"(\d{1,15})"')
MOST_DEVICES = 1 << 16
"""More devices than any slice has; a larger number in a profile is damage and ignored."""
KINDS = {10: "float16", 11: "float32", 12: "float64", 16: "bfloat16", 2: "int8", 4: "int32"}
BACKWARD = ("gradient", "transpose(", "grad/", "Grad")
OPS = {"dot": "BatchMatMul", "convolution": "Conv"}

T = TypeVar("T")
Fields = dict[int, list[int | memoryview]]


class _Array(NamedTuple):
    """Type and dimensions of an instruction's result."""

    kind: int
    dims: tuple[int, ...]


def matrix_ops(plane: Plane) -> dict[str, tuple[MatrixOp, ...]]:
    """The matrix products and convolutions of each program, by the program's name."""
    return dict(_read(plane, lambda hlo: tuple(_module(hlo))))


def estimates(plane: Plane) -> dict[str, dict[str, int]]:
    """The compiler's expected cycles of operations, by the program's number and the op's name.

    They stand in the backend configuration (43) of instructions from the TPU compiler.
    """
    by_program = _read(plane, lambda hlo: dict(_cycles(hlo)), ESTIMATE)
    return {number[1]: cycles for name, cycles in by_program if (number := PROGRAM.fullmatch(name))}


def assigned(plane: Plane) -> dict[str, int]:
    """On how many devices each program runs: its device assignment (15), {replicas 1, parts 2}."""
    return {name: count for name, count in _read(plane, _devices) if 0 < count < MOST_DEVICES}


def _read(
    plane: Plane, read: Callable[[memoryview], T], holding: bytes = b""
) -> Iterator[tuple[str, T]]:
    """What `read` finds in each program's HLO that contains `holding`, by the program's name."""
    stat_id = plane.stat_id(HLO_STAT)
    for metadata in plane.tables.metadata.values():
        for stat in metadata.stats:
            if stat.metadata_id == stat_id and stat.bytes_value and holding in stat.bytes_value:
                try:
                    yield metadata.name, read(memoryview(stat.bytes_value))
                except (wire.Damaged, IndexError, UnicodeDecodeError):
                    continue  # HLO in another format


def _devices(hlo: memoryview) -> int:
    """The devices that a program is assigned to; 0 where its HLO does not say."""
    devices = _part(_part(_fields(hlo), 1), 15)
    return prod((*_numbers(devices, 1)[:1], *_numbers(devices, 2)[:1])) if devices else 0


def _cycles(hlo: memoryview) -> Iterator[tuple[str, int]]:
    """Name and cycles of each instruction that carries an estimate."""
    for module in _parts(_fields(hlo), 1):
        for computation in _parts(module, 3):
            for fields in _parts(computation, 2):
                if cycles := CYCLES.search(_text(fields, 43)):
                    yield _text(fields, 1), int(cycles[1])


def _fields(data: memoryview) -> Fields:
    """The fields of a message: numbers, or bytes."""
    fields: Fields = {}
    for field in wire.fields(data):
        part = data[field.start : field.end]
        value = wire.varint(part, 0)[0] if field.wire_type == wire.VARINT else part
        fields.setdefault(field.number, []).append(value)
    return fields


def _parts(fields: Fields, number: int) -> Iterator[Fields]:
    """The messages in a field."""
    for value in fields.get(number, []):
        if isinstance(value, memoryview):
            yield _fields(value)


def _part(fields: Fields, number: int) -> Fields:
    """The message in a field, an empty one where it is not set."""
    empty: Fields = {}
    return next(_parts(fields, number), empty)


def _numbers(fields: Fields, number: int) -> tuple[int, ...]:
    """A repeated number, packed or not."""
    numbers: list[int] = []
    for value in fields.get(number, []):
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            one, at = wire.varint(value, at)
            numbers.append(one)
    return tuple(numbers)


def _text(fields: Fields, number: int) -> str:
    """A string, empty where it is not set."""
    return next((str(v, "utf-8") for v in fields.get(number, []) if not isinstance(v, int)), "")


def _module(hlo: memoryview) -> Iterator[MatrixOp]:
    """The products of one HloProto: module 1, computations 3, instructions 2."""
    for module in _parts(_fields(hlo), 1):
        for computation in _parts(module, 3):
            instructions = list(_parts(computation, 2))
            arrays = {
                # Operands are named by the unique id (35); names repeat between computations.
                _numbers(fields, 35)[:1]: array
                for fields in instructions
                if (array := _array(fields)) is not None
            }
            for fields in instructions:
                if _text(fields, 2) in OPS and (op := _matrix_op(fields, arrays)) is not None:
                    yield op


def _array(fields: Fields) -> _Array | None:
    """The result of an instruction: shape 3 {element type 2, dimensions 3}."""
    for shape in _parts(fields, 3):
        kinds = _numbers(shape, 2)
        return _Array(kinds[0], _numbers(shape, 3)) if kinds else None
    return None


def _matrix_op(fields: Fields, arrays: Mapping[tuple[int, ...], _Array]) -> MatrixOp | None:
    """One product as rows x contraction x columns; None where its operands are unknown."""
    operands = [arrays.get((id_,)) for id_ in _numbers(fields, 36)]
    result = _array(fields)
    if len(operands) != 2 or result is None or operands[0] is None or operands[1] is None:
        return None
    left, right = operands[0], operands[1]
    opcode = _text(fields, 2)
    sizes = _dot(fields, left, result) if opcode == "dot" else _convolution(fields, right, result)
    if not all(sizes):
        return None
    batch, rows, contraction, columns = sizes
    metadata = _part(fields, 7)
    name = _text(metadata, 2)
    line = _numbers(metadata, 4)
    file = _text(metadata, 3)
    op = "MatMul" if len(right.dims) == 2 else OPS[opcode]
    return MatrixOp(
        op=op,
        name=name or _text(fields, 1),
        dtype=KINDS.get(left.kind, f"type {left.kind}"),
        rows=rows,
        contraction=contraction,
        columns=columns,
        flops=2 * batch * rows * contraction * columns,
        batch=batch,
        location=Location(file, line[0] if line else None) if file else None,
        forward=not any(word in name for word in BACKWARD),
    )


def _dot(fields: Fields, left: _Array, result: _Array) -> tuple[int, int, int, int]:
    """Batch, rows, contraction, columns; dot dimension numbers 30 {lhs 1, lhs batch 3}."""
    numbers = _part(fields, 30)
    contraction = prod(left.dims[i] for i in _numbers(numbers, 1))
    batch = prod(left.dims[i] for i in _numbers(numbers, 3))
    rows = prod(left.dims) // max(batch * contraction, 1)
    return batch, rows, contraction, prod(result.dims) // max(batch * rows, 1)


def _convolution(fields: Fields, kernel: _Array, result: _Array) -> tuple[int, int, int, int]:
    """The same for a convolution, which a TPU computes by products; numbers 16 {columns 4}."""
    numbers = _part(fields, 16)
    # Dimension 0 is proto3's default and is not written.
    columns = kernel.dims[(*_numbers(numbers, 4), 0)[0]]
    rest = max(columns, 1)
    return 1, prod(result.dims) // rest, prod(kernel.dims) // rest, columns
