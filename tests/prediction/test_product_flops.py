"""FLOPs of convolutions and products."""

from itertools import product as every

import pytest

from tpudiag.prediction.arrays import arrays
from tpudiag.prediction.product_flops import _inside as inside  # pyright: ignore[reportPrivateUsage]
from tpudiag.prediction.product_flops import flops


def count(opcode: str, left: str, right: str, out: str, attributes: str) -> int:
    return flops(opcode, arrays(f"({left}, {right})"), arrays(out)[0], attributes)


def test_a_matrix_product_as_a_convolution() -> None:
    product = count(
        "convolution", "bf16[128,784]", "bf16[784,64]", "bf16[128,64]", "dim_labels=bf_io->bf"
    )
    assert product == 2 * 128 * 784 * 64


def test_a_dot_contracts_what_it_says() -> None:
    assert count(
        "dot",
        "f32[8,128,32]",
        "f32[8,32,16]",
        "f32[8,128,16]",
        "lhs_contracting_dims={2}, rhs_contracting_dims={1}",
    ) == (2 * 8 * 128 * 32 * 16)


def test_taps_outside_the_input_are_left_out() -> None:
    same = count(
        "convolution",
        "bf16[2,8,8,3]",
        "bf16[3,3,3,16]",
        "bf16[2,8,8,16]",
        "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
    )
    inside = (3 * 8 - 2) ** 2
    assert same == 2 * 2 * 16 * 3 * inside


def test_a_stride_halves_the_positions() -> None:
    window = "window={size=7x7 stride=2x2 pad=2_3x2_3}, dim_labels=b01f_01io->b01f"
    halved = count("convolution", "f32[1,224,224,3]", "f32[7,7,3,64]", "f32[1,112,112,64]", window)
    full = 2 * 112 * 112 * 64 * 3 * 49
    assert full * 0.97 < halved < full


@pytest.mark.parametrize("rows", [1, 5, 128])
def test_products_of_a_batch_stand_as_a_dilated_window(rows: int) -> None:
    labels = (
        "window={size=16 pad=0_0 stride=15 lhs_dilate=16}, dim_labels=0bf_0io->0bf"
        if rows != 5
        else "window={size=16 stride=15 lhs_dilate=16}, dim_labels=0bf_0io->0bf"
    )
    batched = count(
        "convolution", f"bf16[16,{rows},64]", "bf16[16,64,32]", f"bf16[16,{rows},32]", labels
    )
    assert batched == 2 * 16 * rows * 64 * 32


def test_what_names_no_dimensions_has_no_flops() -> None:
    assert count("convolution", "f32[1]", "f32[1]", "f32[1]", "") == 0


def test_pairs_are_those_that_counting_one_by_one_finds() -> None:
    for kernel, out, stride, pad, dilated, spread in every(
        (1, 7), (2, 5), (1, 3), (0, 4), *2 * [(1, 2)]
    ):
        places = [at * stride + tap * spread - pad for at in range(out) for tap in range(kernel)]
        met = sum(0 <= place <= 5 * dilated and place % dilated == 0 for place in places)
        assert inside(6, kernel, out, stride, pad, dilated, spread) == met
