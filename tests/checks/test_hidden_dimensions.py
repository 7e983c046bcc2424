"""Which widths of a step's products the model's author chose."""

import importlib
from dataclasses import replace

import pytest

from tests.checks.rehearsal import HERE, found
from tpudiag.signals import Batch, MatrixOp

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


def test_a_product_that_keeps_the_width_of_the_data_makes_none() -> None:
    assert not hidden_dimensions((product("cross/MatMul", 48, 48), product("d/MatMul", 48, 256)))


@pytest.mark.parametrize("kind", ["Conv2D", "conv_general_dilated"])
def test_patches_of_pictures_as_wide_as_the_classes_are_none_of_them(kind: str) -> None:
    patches = replace(product("conv", 9, 40), op=kind)
    pointwise = replace(product("conv_1", 40, 64), op=kind)
    assert hidden_dimensions((patches, pointwise, product("dense/MatMul", 64, 9))) == {40, 64}


def test_a_batch_that_no_script_names_is_not_judged() -> None:
    batch = Batch(32, 4, 8, HERE)
    assert found("TPU401", batch=batch, stood_in=("a",), stand_in_kinds=("data",))
    assert not found("TPU401", batch=batch, stood_in=("a",), stand_in_kinds=("batch",))
