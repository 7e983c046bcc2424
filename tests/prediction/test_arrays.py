"""Array types of HLO text."""

import pytest

from tpudiag.prediction.arrays import arrays


def test_a_tuple_gives_its_arrays_and_leaves_out_what_holds_no_data() -> None:
    pair = arrays("(s32[]{:T(128)}, bf16[512,3]{0,1:T(4,128)(2,1)}, token[])")
    assert [(a.kind, a.dims) for a in pair] == [("s32", ()), ("bf16", (512, 3))]


def test_what_lies_in_another_memory_moves_nothing_through_hbm() -> None:
    (near,) = arrays("f32[64,784]{1,0:T(8,128)S(1)}")
    assert near.hbm_bytes == 0
    assert near.padded_bytes == 64 * 896 * 4


def test_a_bounded_dimension_counts_as_its_bound() -> None:
    (bounded,) = arrays("f32[<=64,128]{1,0:T(8,128)}")
    assert bounded.elements == 64 * 128


@pytest.mark.parametrize(
    ("shape", "logical", "padded"),
    [
        ("f32[4096,1]{1,0:T(8,128)}", 4096 * 4, 4096 * 128 * 4),
        ("f32[4096,1]{0,1:T(1,128)}", 4096 * 4, 4096 * 4),
        ("bf16[512,3]{0,1:T(4,128)(2,1)}", 512 * 3 * 2, 512 * 4 * 2),
        ("f32[64,24,24,3]{0,2,3,1:T(8,128)}", 64 * 24 * 24 * 3 * 4, 128 * 24 * 24 * 3 * 4),
        ("pred[9,130]{1,0:T(8,128)(4,1)}", 9 * 130, 16 * 256),
        ("f32[]{:T(128)}", 4, 4),
    ],
)
def test_the_expansion_of_a_layout(shape: str, logical: int, padded: int) -> None:
    (array,) = arrays(shape)
    assert (array.bytes, array.padded_bytes) == (logical, padded)
