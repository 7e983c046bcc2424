"""Whole steps."""

from __future__ import annotations

import pytest

from tests.prediction import programs
from tpudiag.hardware import target
from tpudiag.prediction.step import predict
from tpudiag.prediction.times import Bound
from tpudiag.prediction.work import Kind, Work


def test_a_step_has_a_range_a_bound_and_what_takes_most() -> None:
    step = predict(programs.work("embedding-v5e"), target("v5e-4"), 32, 4)
    assert step.ms.low <= 0.9 * step.ms.value
    assert step.ms.high >= 1.2 * step.ms.value
    assert step.bound_by is Bound.HBM
    assert step.split_ms[0][0] is Bound.HBM
    assert len(step.top) == 10
    assert [t.ms.value for t in step.top] == sorted((t.ms.value for t in step.top), reverse=True)
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
