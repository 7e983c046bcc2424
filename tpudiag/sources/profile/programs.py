"""Matrix products, cycles and devices of the programs in a profile, from the HLO kept there."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import prod
from typing import Any, NamedTuple

from tpudiag.model import Location
from tpudiag.signals import MatrixOp
from tpudiag.sources.profile.schema import parsed
from tpudiag.sources.profile.wire import Damaged
from tpudiag.sources.profile.xspace import Plane

HLO_PLANE, HLO_STAT = "/host:metadata", "Hlo Proto"
ESTIMATE = b'"estimated_cycles"'
CYCLES = re.compile(r'"estimated_cycles":"(\d{1,15})"')
MOST_DEVICES = 1 << 16
"""More devices than any slice has."""
KINDS = {10: "float16", 11: "float32", 12: "float64", 16: "bfloat16", 2: "int8", 4: "int32"}
BACKWARD = ("gradient", "transpose(", "grad/", "Grad")
OPS = {"dot": "BatchMatMul", "convolution": "Conv"}


class ProgramHlo(NamedTuple):
    """What the HLO of a program holds."""

    products: tuple[MatrixOp, ...]
    """Its matrix products and convolutions."""
    cycles: dict[str, int]
    """Expected by the TPU compiler, by operation."""
    devices: int
    """That it runs on, by its device assignment; 0 where that is not told."""


def read(plane: Plane) -> dict[str, ProgramHlo]:
    """What the plane holds of each program, by the program's name."""
    stat_id = plane.stat_id(HLO_STAT)
    programs: dict[str, ProgramHlo] = {}
    for metadata in plane.tables.metadata.values():
        for stat in metadata.stats:
            if stat.metadata_id == stat_id and stat.bytes_value:
                # An HLO of another form tells nothing.
                with suppress(Damaged, IndexError):
                    programs[metadata.name] = _program(stat.bytes_value)
    return programs


def _program(data: bytes) -> ProgramHlo:
    """Raises Damaged and IndexError."""
    module = parsed("HloProto", data).hlo_module
    to = module.device_assignment
    devices = (to.replica_count or 1) * (to.computation_count or 1) if to.ByteSize() else 0
    cycles = {
        each.name: int(cycles[1])
        for computation in (module.computations if ESTIMATE in data else ())
        for each in computation.instructions
        if (cycles := CYCLES.search(each.backend_config))
    }
    # A larger number is damage.
    devices = devices if devices < MOST_DEVICES else 0
    return ProgramHlo(tuple(_products(module)), cycles, devices)


def _products(module: Any) -> Iterator[MatrixOp]:
    for computation in module.computations:
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
    columns = kernel.dimensions[each.convolution_dimension_numbers.kernel_output_feature_dimension]
    rest = max(columns, 1)
    return 1, result // rest, prod(kernel.dimensions) // rest, columns
