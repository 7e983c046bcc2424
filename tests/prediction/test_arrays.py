"""Array types of HLO text."""

from __future__ import annotations

from tpudiag.prediction.arrays import arrays


def test_a_tuple_gives_its_arrays_and_leaves_out_what_holds_no_data() -> None:
    pair = arrays("(s32[]{:T(128)}, bf16[512,3]{0,1:T(4,128)(2,1)}, token[])")
    assert [(a.kind, a.dims) for a in pair] == [("s32", ()), ("bf16", (512, 3))]
    assert (pair[1].bytes, pair[1].padded_bytes) == (512 * 3 * 2, 512 * 4 * 2)


def test_what_lies_in_another_memory_moves_nothing_through_hbm() -> None:
    (near,) = arrays("f32[64,784]{1,0:T(8,128)S(1)}")
    assert near.hbm_bytes == 0
    assert near.padded_bytes == 64 * 896 * 4


def test_a_bounded_dimension_counts_as_its_bound() -> None:
    (bounded,) = arrays("f32[<=64,128]{1,0:T(8,128)}")
    assert bounded.elements == 64 * 128
