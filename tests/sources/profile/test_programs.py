"""Matrix products and cycles from a program's HLO."""

from tests.sources.profile import spaces
from tests.wire_bytes import field, varint
from tpudiag.sources.profile import programs, xspace


def packed(number: int, values: tuple[int, ...]) -> bytes:
    return field(number, b"".join(map(varint, values)))


def array(id_: int, dims: tuple[int, ...], opcode: str = "parameter", rest: bytes = b"") -> bytes:
    shape = field(2, 16) + packed(3, dims)
    return field(
        2, field(1, f"{opcode}.{id_}".encode()) + field(2, opcode.encode()) + field(3, shape)
        + field(35, id_) + rest,
    )  # fmt: skip


def metadata(name: str, file: str, line: int) -> bytes:
    return field(7, field(2, name.encode()) + field(3, file.encode()) + field(4, line))


def product(numbers: bytes, name: str = "dense/MatMul") -> bytes:
    return packed(36, (1, 2)) + field(30, numbers) + metadata(name, "train.py", 12)


def module(*instructions: bytes) -> bytes:
    return field(1, field(3, b"".join(instructions)))


def read(hlo: bytes) -> xspace.Plane:
    made = spaces.space()
    plane = spaces.Plane(made, programs.HLO_PLANE)
    told = plane.plane.event_metadata[1]
    told.id, told.name = 1, "step(42)"
    plane.stat(told, programs.HLO_STAT, hlo)
    planes = xspace.space(memoryview(made.SerializeToString())).planes()
    return next(plane for plane in planes if plane.name == programs.HLO_PLANE)


def test_products_as_rows_contraction_and_columns() -> None:
    plain = module(
        array(1, (128, 784)), array(2, (784, 10)),
        array(3, (128, 10), "dot", product(packed(1, (1,)) + packed(2, (0,)))),
    )  # fmt: skip
    (op,) = programs.read(read(plain))["step(42)"].products
    assert (op.op, op.dtype) == ("MatMul", "bfloat16")
    assert (op.batch, op.rows, op.contraction, op.columns) == (1, 128, 784, 10)
    assert op.flops == 2 * 128 * 784 * 10 and op.forward
    assert str(op.location) == "train.py:12"
    batched = module(
        array(1, (4, 64, 32)), array(2, (4, 32, 16)),
        array(3, (4, 64, 16), "dot",
              product(packed(1, (2,)) + packed(2, (1,)) + packed(3, (0,)), "gradient/MatMul")),
    )  # fmt: skip
    (op,) = programs.read(read(batched))["step(42)"].products
    assert (op.op, op.batch, op.rows, op.contraction, op.columns) == ("BatchMatMul", 4, 64, 32, 16)
    assert not op.forward
    convolution = module(
        array(1, (8, 32, 32, 3)), array(2, (3, 3, 3, 64)),
        array(3, (8, 32, 32, 64), "convolution", packed(36, (1, 2)) + field(16, field(4, 3))),
    )  # fmt: skip
    (op,) = programs.read(read(convolution))["step(42)"].products
    assert (op.op, op.rows, op.contraction, op.columns) == ("Conv", 8 * 32 * 32, 27, 64)


def test_cycles_by_operation() -> None:
    config = field(43, b'{"estimated_cycles":"1234"}')
    hlo = module(array(1, (8,)), array(2, (8,), "fusion", config))
    assert programs.read(read(hlo))["step(42)"].cycles == {"fusion.2": 1234}


def test_an_hlo_of_another_form_tells_nothing() -> None:
    hlo = module(array(1, (8, 8)), array(3, (8, 8), "dot", product(packed(1, (7,)))))
    for odd in (hlo, hlo[:-3], b"\xff\xff\xff", b"not an HLO"):
        assert not any(map(any, programs.read(read(odd)).values()))
