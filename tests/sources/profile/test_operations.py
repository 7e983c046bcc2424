"""Totals of operations, their rates against the peaks, and what tiles add to them."""

from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.signals import Device, DeviceOp
from tpudiag.sources.profile.op_kinds import INFEED
from tpudiag.sources.profile.operations import Description, OpTotal, device_ops, fold, padded

DEVICE = Device(
    host="h", name="d", kind="TPU v6 Lite", peak_tflops=900.0, peak_hbm_gb_per_s=1600.0,
    busy_ms=10.0, window_ms=10.0,
)  # fmt: skip
MATMUL = "%m = f32[8,8] fusion(bf16[8,8] %a, bf16[8,8] %b, f32[8] %c)"


def total(name: str, **given: Any) -> tuple[tuple[str, str], OpTotal]:
    sums = {"self_ps": 10**9, "total_ps": 10**9, "times": 1, "flops": 0, "hbm": 0} | given
    category = given.get("category", "convolution fusion")
    op = DeviceOp(
        name=name, category=category, self_ms=0, share=0, count=0, part=given.get("part"),
        holds_others=category == "while",
    )  # fmt: skip
    description = Description(op, None, None, None, given.get("text", MATMUL))
    hbm = sums["hbm"]
    return ("", name), OpTotal(
        description, sums["self_ps"], sums["total_ps"], sums["times"], sums["flops"], hbm, hbm
    )


def one(name: str, **given: Any) -> Any:
    return device_ops(dict([total(name, **given)]), [DEVICE], {})[0]


def test_rates_and_the_side_of_the_roofline() -> None:
    op = one("m", flops=800 * 10**9, hbm=10**6)
    assert op.gflop_per_s == pytest.approx(800_000) and op.bound_by == "compute"
    assert op.share == pytest.approx(0.1) and op.in_16_bit
    assert one("copy", flops=1, hbm=10**9).bound_by == "memory"
    assert one("infeed", part=INFEED).bound_by == "input"
    assert one("nothing").bound_by is None


def test_times_that_are_not_an_operation_s_own_have_no_rate() -> None:
    assert one("while", category="while", flops=10, hbm=10).gflop_per_s is None
    assert one("copy", category="copy-start", flops=10, hbm=10).hbm_gb_per_s is None
    kernel = one("pallas", category="custom-call", flops=0, hbm=0)
    assert kernel.uncosted and kernel.gflop_per_s is None


@pytest.mark.parametrize(
    ("read", "in_16_bit"),
    [
        ("bf16[8,8] %a, bf16[8,8] %b", True),
        ("f32[8,8] %a, f32[8,8] %b", False),
        ("bf16[8,8] %a, f32[8,8] %b, f32[8] %c", False),
        ("s8[8,8] %a, s8[8,8] %b", True),
        ("f8e4m3fn[8,8] %a, f8e4m3fn[8,8] %b", True),
        ("s32[8,8] %a, s32[8,8] %b", None),
    ],
)
def test_the_precision_of_a_product_is_that_of_what_it_reads(
    read: str, in_16_bit: bool | None
) -> None:
    assert one("m", text=f"%m = f32[8,8] fusion({read})").in_16_bit is in_16_bit


def test_a_part_is_no_sum() -> None:
    ops = dict([total("m", flops=5, hbm=7)])
    fold(ops, [total("m", flops=5, hbm=7)[1], total("other", flops=1)[1]])
    assert ops["", "m"].flops == 10 and ops["", "m"].times == 2 and len(ops) == 2
    fold(ops, [total("m")[1]._replace(flops=None)])
    assert ops["", "m"].flops is None


def shaped(**texts: str) -> Any:
    return {
        ("", name): SimpleNamespace(description=SimpleNamespace(text=f"%{name} = {text} fusion()"))
        for name, text in texts.items()
    }


def test_what_tiles_add_and_in_which_order() -> None:
    tensors = padded(
        shaped(
            narrow="f32[1024,8]{1,0:T(8,128)}",
            turned="f32[8,1024]{0,1:T(8,128)}",
            half="bf16[10,130]{1,0:T(8,128)(2,1)}",
            fits="f32[1024,128]{1,0:T(8,128)}",
        )
    )
    sizes = {each.name: (each.logical_bytes, each.padded_bytes) for each in tensors}
    assert sizes["narrow"] == (1024 * 8 * 4, 1024 * 128 * 4)
    assert sizes["turned"] == sizes["narrow"], "the layout's order counts, not the shape's"
    assert sizes["half"] == (10 * 130 * 2, 16 * 256 * 2)
    assert sizes["fits"][0] == sizes["fits"][1]
    assert tensors[-1].name == "fits", "what is lost most comes first"


def test_what_has_no_tiles_in_hbm() -> None:
    assert not padded(
        shaped(
            scalar="f32[]{:T(128)}",
            untiled="f32[1024,8]{1,0}",
            in_vmem="f32[1024,8]{1,0:T(8,128)S(1)}",
            odd="f32[1024,8]{1,1:T(8,128)}",
            token="token[]",
        )
    )
