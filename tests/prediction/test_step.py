"""Whole steps."""

from typing import Any

import pytest

from tests.prediction import programs
from tpudiag.hardware import target
from tpudiag.prediction.step import helps, normalised, predict
from tpudiag.prediction.times import NONE, Bound, Range, Timed
from tpudiag.prediction.work import Kind, Work


def test_a_step_has_a_range_a_bound_and_what_takes_most() -> None:
    step = predict(programs.work("embedding-v5e"), target("v5e-4"), 32, 4)
    assert step.ms.low <= 0.9 * step.ms.value
    assert step.ms.high >= 1.2 * step.ms.value
    assert step.bound_by is Bound.HBM
    assert step.split_ms[0][0] is Bound.HBM
    assert len(step.top) == 10
    assert [t.ms for t in step.top] == sorted((t.ms for t in step.top), reverse=True)
    assert all(t.helps for t in step.top)
    assert 0 < step.mfu.low <= step.mfu.value <= step.mfu.high < 0.2


def test_a_tiny_step_is_bound_by_its_dispatch_but_not_in_a_loop() -> None:
    one = predict(programs.work("lstm-v5e")[:1], target("v5e-1"), 128, 1)
    assert one.bound_by is Bound.DISPATCH
    assert one.ms.value >= 0.5
    many = predict(programs.work("lstm-v5e"), target("v5e-1"), 128, 1, steps_per_dispatch=100)
    assert many.bound_by is not Bound.DISPATCH


def test_examples_a_second_have_the_ends_the_other_way_round() -> None:
    step = predict(programs.work("conv-v3"), target("v3-8"), 64, 8)
    rate = step.examples_per_second(8)
    assert rate.low < rate.value < rate.high
    assert rate.value == pytest.approx(64 * 8 / step.ms.value * 1e3)


def test_collectives_take_a_share_with_a_range() -> None:
    work = (
        Work(name="add", kind=Kind.ELEMENTWISE, trips=1, hbm_bytes=10**9),
        Work(
            name="sum",
            kind=Kind.COLLECTIVE,
            trips=1,
            collective="all-reduce",
            link_bytes=10**8,
            members=8,
        ),
    )
    share = predict(work, target("v5e-8"), 8, 8).collective_share
    assert 0 < share.low < share.value < share.high < 1


def test_no_work_at_all_is_still_a_dispatch() -> None:
    step = predict((), target("v5e-1"), 8, 1)
    assert step.bound_by is Bound.DISPATCH
    assert step.top == ()


def advised(kind: Kind, bound: Bound = Bound.HBM, ms: Range = NONE, **about: Any) -> str:
    """The advice on an instruction of a step with batch normalization."""
    given: dict[str, Any] = {"name": "f", "trips": 1, **about}
    return helps(Timed(Work(kind=kind, **given), ms, bound), in_normalised=True)


@pytest.mark.parametrize(
    ("op_name", "word"),
    [
        ("gradient_tape/resnet50/conv1_conv/BiasAdd/BiasAddGrad", "use_bias=False"),
        ("model/batch_normalization/FusedBatchNormV3", "statistics"),
        ("adam/ResourceApplyAdam", "once a step"),
        ("model/embedding/GatherV2", "rows"),
        ("model/dropout/RandomUniform", "dropout"),
        ("somewhere/Mul", "bfloat16"),
    ],
)
def test_an_operation_bound_by_hbm_gets_the_advice_of_its_kind(op_name: str, word: str) -> None:
    assert word in advised(Kind.ELEMENTWISE, op_name=op_name, shape="f32[8]{0}")


@pytest.mark.parametrize(
    ("other", "in_it"),
    [("model/bn1/FusedBatchNormV3", True), ("model/bn/batchnorm/mul", True), ("model/mul", False)],
)
def test_a_bias_is_needless_only_in_a_step_with_batch_normalization(
    other: str, in_it: bool
) -> None:
    bias, norm = (
        Timed(Work(name="f", kind=Kind.ELEMENTWISE, trips=1, op_name=name), NONE, Bound.HBM)
        for name in ("unet/conv2d_1/BiasAdd/BiasAddGrad", other)
    )
    assert normalised((bias, norm)) is in_it
    assert ("use_bias=False" in helps(bias, normalised((bias, norm)))) is in_it


@pytest.mark.parametrize("op_name", ["lstm/while/BiasAddGrad", "model/layer_norm/LayerNorm", ""])
def test_what_the_vector_unit_binds_is_not_told_to_halve_its_bytes(op_name: str) -> None:
    about: dict[str, Any] = {"op_name": op_name, "shape": "f32[8]{0}"}
    assert "arithmetic" in advised(Kind.ELEMENTWISE, Bound.VECTOR, **about)
    assert "arithmetic" not in advised(Kind.ELEMENTWISE, **about)


def test_products_moves_parts_of_tiles_and_collectives_have_their_own() -> None:
    near, far, long = (Range(1.0, ms, 8.0) for ms in (1.1, 2.0, 3.2))
    assert "near" in advised(Kind.PRODUCT, Bound.MXU, near, flops=10**9)
    assert "multiples of 128" in advised(Kind.PRODUCT, Bound.MXU, far, flops=10**9)
    assert "bfloat16" in advised(Kind.PRODUCT, Bound.HBM, far, flops=10**9)
    assert "small products" in advised(Kind.PRODUCT, Bound.MXU, long, trips=4000, flops=10**6)
    assert "one value" in advised(Kind.MOVE, name="broadcast.2")
    assert "layout" in advised(Kind.MOVE, name="copy.1")
    assert "tiles" in advised(Kind.ELEMENTWISE, strided_bytes=8)
    assert "less often" in advised(Kind.COLLECTIVE, Bound.ICI, link_bytes=8)
