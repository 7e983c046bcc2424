"""The figures of one batch on one target."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tpudiag.compiled import Compilation
from tpudiag.diagnoses.plan_rows import plan_row
from tpudiag.hardware import target
from tpudiag.planning.candidates import Row
from tpudiag.prediction.step import PredictedStep
from tpudiag.prediction.times import Bound, Range

STEP = PredictedStep(
    target="v5e-8",
    batch=125,
    ms=Range(50.0, 100.0, 200.0),
    device_ms=Range(50.0, 100.0, 200.0),
    bound_by=Bound.HBM,
    split_ms=((Bound.HBM, 100.0),),
    mfu=Range(0.1, 0.2, 0.4),
    hbm_use=Range(0.2, 0.4, 0.8),
    flops=125,
    hbm_bytes=250,
    collective_bytes=8,
    collective_ms=Range(0.0, 1.0, 2.0),
    top=(),
)
ANSWER = Compilation(
    target="v5e-8",
    batch=125,
    replicas=8,
    compiler="libtpu 1",
    usable_bytes=1 << 34,
    compiled=True,
    predicted=STEP,
)
ROW = Row(target=target("v5e-8"), replicas=8, batch=125, answer=ANSWER, price=1.5)


def test_every_estimate_has_its_ends() -> None:
    made = plan_row(ROW, ROW, 3.6e6, 4)
    assert (made.examples_per_second_low, made.examples_per_second_high) == (5_000.0, 20_000.0)
    assert made.examples_per_second == pytest.approx(10_000.0)
    assert (made.mfu_low, made.mfu, made.mfu_high) == (0.1, 0.2, 0.4)
    assert (made.hbm_use_low, made.hbm_use, made.hbm_use_high) == (0.2, 0.4, 0.8)
    assert made.examples_per_second_per_chip_low == pytest.approx(5_000 / 8)
    assert made.examples_per_second_per_chip_high == pytest.approx(20_000 / 8)
    assert made.input_needed_examples_per_second_per_host_low == pytest.approx(5_000)
    assert made.input_needed_examples_per_second_per_host_high == pytest.approx(20_000)
    assert (made.collective_low_ms, made.collective_ms, made.collective_high_ms) == (0.0, 1.0, 2.0)
    assert made.split_ms == {"HBM": 100.0}
    assert made.best


def test_one_replica_is_fed_by_one_host() -> None:
    made = plan_row(replace(ROW, target=target("v5e-16"), replicas=1), None, None, 1)
    assert made.input_needed_examples_per_second_per_host == made.examples_per_second


def test_money_for_a_million_examples_for_an_epoch_and_for_all() -> None:
    made = plan_row(ROW, None, 3.6e6, 4)
    # 10,000 examples a second, 8 chips at 1.5 an hour
    assert made.cost_per_million_examples == pytest.approx(100 / 3600 * 12)
    assert made.cost_per_million_examples_low == pytest.approx(50 / 3600 * 12)
    assert made.cost_per_million_examples_high == pytest.approx(200 / 3600 * 12)
    assert made.hours == pytest.approx(0.1)
    assert made.cost == pytest.approx(1.2)
    assert made.hours_per_epoch == pytest.approx(0.025)
    assert made.cost_per_epoch == pytest.approx(0.3)
    assert made.hours_per_epoch_low == pytest.approx(0.0125)
    assert made.cost_per_epoch_high == pytest.approx(0.6)


def test_what_is_not_known_is_left_open() -> None:
    free = plan_row(
        Row(target=target("v5e-8"), replicas=8, batch=125, answer=ANSWER), None, None, 1
    )
    assert (free.cost_per_million_examples, free.hours, free.cost_per_epoch) == (None, None, None)
    silent = plan_row(Row(target=target("v5e-8"), replicas=8, batch=8, answer=None), None, 1e6, 1)
    assert (silent.step_ms, silent.mfu_low, silent.examples_per_second_low) == (None, None, None)
