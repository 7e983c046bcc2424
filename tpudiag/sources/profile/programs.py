"""Matrix products, estimates and devices of the programs in a profile, from the HLO kept there."""

import re
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any, TypeVar

from tpudiag.model import Location
from tpudiag.signals import MatrixOp
from tpudiag.sources.profile.schema import parsed
from tpudiag.sources.profile.wire import Damaged
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


def matrix_ops(plane: Plane) -> dict[str, tuple[MatrixOp, ...]]:
    """The matrix products and convolutions of each program, by the program's name."""
    return dict(_read(plane, lambda hlo: tuple(_products(hlo))))


def estimates(plane: Plane) -> dict[str, dict[str, int]]:
    """The compiler's expected cycles of operations, by the program's number and the op's name.

    They stand in the backend configuration of instructions that the TPU compiler made.
    """
    by_program = _read(plane, lambda hlo: dict(_cycles(hlo)), ESTIMATE)
    return {number[1]: cycles for name, cycles in by_program if (number := PROGRAM.fullmatch(name))}


def assigned(plane: Plane) -> dict[str, int]:
    """On how many devices each program runs: its device assignment."""
    return {name: count for name, count in _read(plane, _devices) if 0 < count < MOST_DEVICES}


def _read(plane: Plane, read: Callable[[Any], T], holding: bytes = b"") -> Iterator[tuple[str, T]]:
    """What is read from the HLO of each program that holds some bytes, by the program's name."""
    stat_id = plane.stat_id(HLO_STAT)
    for metadata in plane.tables.metadata.values():
        for stat in metadata.stats:
            if stat.metadata_id == stat_id and stat.bytes_value and holding in stat.bytes_value:
                try:
                    yield metadata.name, read(parsed("HloProto", stat.bytes_value))
                except (Damaged, IndexError):
                    continue  # an HLO of another form tells nothing


def _devices(hlo: Any) -> int:
    """The devices that a program is assigned to; 0 where its HLO does not tell."""
    to = hlo.hlo_module.device_assignment
    return (to.replica_count or 1) * (to.computation_count or 1) if to.ByteSize() else 0


def _cycles(hlo: Any) -> Iterator[tuple[str, int]]:
    for computation in hlo.hlo_module.computations:
        for each in computation.instructions:
            if cycles := CYCLES.search(each.backend_config):
                yield each.name, int(cycles[1])


def _products(hlo: Any) -> Iterator[MatrixOp]:
    for computation in hlo.hlo_module.computations:
        # Operands are named by the unique id; names repeat between computations.
        shapes = {each.id: each.shape for each in computation.instructions}
        for each in computation.instructions:
            if each.opcode in OPS and (op := _matrix_op(each, shapes)) is not None:
                yield op


def _matrix_op(each: Any, shapes: Mapping[int, Any]) -> MatrixOp | None:
    """One product as rows x contraction x columns; None where its operands are not known."""
    operands: list[Any] = [shapes.get(id_) for id_ in each.operand_ids]
    if len(operands) != 2 or not all(s and s.element_type for s in (*operands, each.shape)):
        return None
    left, right = operands
    result = prod(each.shape.dimensions)
    sizes = _dot(each, left, result) if each.opcode == "dot" else _convolution(each, right, result)
    if not all(sizes):
        return None
    batch, rows, contraction, columns = sizes
    made = each.metadata
    place = Location(made.source_file, made.source_line or None) if made.source_file else None
    return MatrixOp(
        op="MatMul" if len(right.dimensions) == 2 else OPS[each.opcode],
        name=made.op_name or each.name,
        dtype=KINDS.get(left.element_type, f"type {left.element_type}"),
        rows=rows,
        contraction=contraction,
        columns=columns,
        flops=2 * batch * rows * contraction * columns,
        batch=batch,
        location=place,
        forward=not any(word in made.op_name for word in BACKWARD),
    )


def _dot(each: Any, left: Any, result: int) -> tuple[int, int, int, int]:
    """Batch, rows, contraction, columns."""
    numbers, dims = each.dot_dimension_numbers, left.dimensions
    contraction = prod(dims[i] for i in numbers.lhs_contracting_dimensions)
    batch = prod(dims[i] for i in numbers.lhs_batch_dimensions)
    rows = prod(dims) // max(batch * contraction, 1)
    return batch, rows, contraction, result // max(batch * rows, 1)


def _convolution(each: Any, kernel: Any, result: int) -> tuple[int, int, int, int]:
    """The same of a convolution, which a TPU makes of products, too."""
    # Dimension 0 is proto3's default and is not written.
    numbers = each.convolution_dimension_numbers
    columns = kernel.dimensions[numbers.kernel_output_feature_dimension]
    rest = max(columns, 1)
    return 1, result // rest, prod(kernel.dimensions) // rest, columns
