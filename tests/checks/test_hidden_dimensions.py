"""Which widths of a step's products the model's author chose."""

import importlib

import pytest

from tpudiag.signals import MatrixOp

hidden_dimensions = importlib.import_module("tpudiag.checks.batch_multiple").hidden_dimensions


def product(name: str, contraction: int, columns: int) -> MatrixOp:
    return MatrixOp(
        op="MatMul",
        name=name,
        dtype="float32",
        rows=64,
        contraction=contraction,
        columns=columns,
        flops=2 * 64 * contraction * columns,
    )


@pytest.mark.parametrize(("cell", "gates"), [("lstm_1/lstm_cell_1", 4), ("while/gru_cell", 3)])
def test_the_units_of_a_recurrent_cell_are_chosen(cell: str, gates: int) -> None:
    ops = (
        product(f"model/{cell}/MatMul", 8, gates * 128),
        product(f"model/{cell}/MatMul_1", 128, gates * 128),
        product("model/dense/MatMul", 128, 1),
    )
    assert hidden_dimensions(ops) == {128}


def test_a_layer_four_times_as_wide_as_the_data_tells_nothing_of_them() -> None:
    assert hidden_dimensions((product("dense/MatMul", 10, 40), product("d/MatMul", 40, 1))) == {40}
