"""FLOPs of convolutions and products."""

from itertools import product as every

import pytest

from tpudiag.prediction.arrays import arrays
from tpudiag.prediction.product_flops import _inside as inside  # pyright: ignore[reportPrivateUsage]
from tpudiag.prediction.product_flops import flops

SAME = "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"
DILATED = "window={size=16 pad=0_0 stride=15 lhs_dilate=16}, dim_labels=0bf_0io->0bf"
COUNTS = {
    "a matrix product as a convolution": (
        "bf16[128,784]", "bf16[784,64]", "bf16[128,64]", "dim_labels=bf_io->bf",
        2 * 128 * 784 * 64,
    ),
    "taps outside the input are left out": (
        "bf16[2,8,8,3]", "bf16[3,3,3,16]", "bf16[2,8,8,16]", SAME,
        2 * 2 * 16 * 3 * (3 * 8 - 2) ** 2,
    ),
    "products of a batch stand as a dilated window": (
        "bf16[16,128,64]", "bf16[16,64,32]", "bf16[16,128,32]", DILATED,
        2 * 16 * 128 * 64 * 32,
    ),
    "of one row, without a padding": (
        "bf16[16,1,64]", "bf16[16,64,32]", "bf16[16,1,32]", DILATED.replace("pad=0_0 ", ""),
        2 * 16 * 64 * 32,
    ),
    "what names no dimensions": ("f32[1]", "f32[1]", "f32[1]", "", 0),
}  # fmt: skip


def count(opcode: str, left: str, right: str, out: str, attributes: str) -> int:
    return flops(opcode, arrays(f"({left}, {right})"), arrays(out)[0], attributes)


@pytest.mark.parametrize(
    ("left", "right", "out", "attributes", "made"), COUNTS.values(), ids=COUNTS
)
def test_a_convolution_has_two_for_each_tap_inside_its_input(
    left: str, right: str, out: str, attributes: str, made: int
) -> None:
    assert count("convolution", left, right, out, attributes) == made


def test_a_dot_contracts_what_it_says() -> None:
    contracted = "lhs_contracting_dims={2}, rhs_contracting_dims={1}"
    product = count("dot", "f32[8,128,32]", "f32[8,32,16]", "f32[8,128,16]", contracted)
    assert product == 2 * 8 * 128 * 32 * 16


def test_a_stride_halves_the_positions() -> None:
    window = "window={size=7x7 stride=2x2 pad=2_3x2_3}, dim_labels=b01f_01io->b01f"
    halved = count("convolution", "f32[1,224,224,3]", "f32[7,7,3,64]", "f32[1,112,112,64]", window)
    full = 2 * 112 * 112 * 64 * 3 * 49
    assert full * 0.97 < halved < full


def test_pairs_are_those_that_counting_one_by_one_finds() -> None:
    for kernel, out, stride, pad, dilated, spread in every(
        (1, 7), (2, 5), (1, 3), (0, 4), *2 * [(1, 2)]
    ):
        places = [at * stride + tap * spread - pad for at in range(out) for tap in range(kernel)]
        met = sum(0 <= place <= 5 * dilated and place % dilated == 0 for place in places)
        assert inside(6, kernel, out, stride, pad, dilated, spread) == met
