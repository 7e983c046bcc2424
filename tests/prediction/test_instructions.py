"""The work of kernels that do not state it."""

import pytest

from tpudiag.prediction.arrays import arrays
from tpudiag.prediction.instructions import attention_flops

QKV = "(s8[1,4,4], bf16[6,64,2048,128], bf16[6,64,2048,128], bf16[6,64,2048,128], s32[2048,128])"
PRODUCT = 2 * 6 * 64 * 2048 * 2048 * 128
"""Of all queries with all keys."""


@pytest.mark.parametrize(
    ("name", "products"),
    [
        ("splash_mha_fwd_residuals.3", 2),
        ("splash_mha_dkv_no_residuals.1", 4),
        ("splash_mha_dq_no_residuals", 3),
        ("jit(f)/flash_attention", 2),
    ],
)
def test_a_causal_attention_does_half_of_its_products(name: str, products: int) -> None:
    assert attention_flops(name, arrays(QKV)) == products * PRODUCT // 2


def test_keys_may_have_fewer_heads_and_another_length() -> None:
    few = arrays("(bf16[2,32,1024,128], bf16[2,8,4096,128], bf16[2,8,4096,128])")
    assert attention_flops("mqa", few) == 2 * 2 * (2 * 32 * 1024 * 128) * 4096 // 2


def test_of_other_kernels_nothing_is_known() -> None:
    assert attention_flops("ragged_dot", arrays(QKV)) == 0
    assert attention_flops("attention", arrays("(bf16[8,128], bf16[8,128])")) == 0
