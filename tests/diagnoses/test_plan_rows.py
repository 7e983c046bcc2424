"""The figures of one batch on one target."""

from dataclasses import replace

import pytest

from tests import made
from tpudiag.compiled import Compilation
from tpudiag.diagnoses import plan_rows
from tpudiag.diagnoses.plan_rows import plan_row
from tpudiag.hardware import target
from tpudiag.planning.candidates import Row
from tpudiag.prediction.times import Range
from tpudiag.report_figures import PlanRow

STEP = made.predicted(
    Range(50.0, 100.0, 200.0), 125, mfu=Range(0.1, 0.2, 0.4), hbm_use=Range(0.2, 0.4, 0.8),
    collective_ms=Range(0.0, 1.0, 2.0),
)  # fmt: skip
ANSWER = Compilation(
    target="v5e-8", batch=125, replicas=8, compiler="libtpu 1", usable_bytes=1 << 34,
    compiled=True, predicted=STEP,
)  # fmt: skip
ROW = Row(target=target("v5e-8"), replicas=8, batch=125, answer=ANSWER, price=1.5)


def test_every_estimate_has_its_ends() -> None:
    row = plan_row(ROW, ROW, 3.6e6, 4)
    assert (row.examples_per_second_low, row.examples_per_second_high) == (5_000.0, 20_000.0)
    assert row.examples_per_second == pytest.approx(10_000.0)
    assert (row.mfu_low, row.mfu, row.mfu_high) == (0.1, 0.2, 0.4)
    assert (row.hbm_use_low, row.hbm_use, row.hbm_use_high) == (0.2, 0.4, 0.8)
    assert row.examples_per_second_per_chip_low == pytest.approx(5_000 / 8)
    assert row.examples_per_second_per_chip_high == pytest.approx(20_000 / 8)
    assert row.input_needed_examples_per_second_per_host_low == pytest.approx(5_000)
    assert row.input_needed_examples_per_second_per_host_high == pytest.approx(20_000)
    assert (row.collective_low_ms, row.collective_ms, row.collective_high_ms) == (0.0, 1.0, 2.0)
    assert row.split_ms == {"HBM": 100.0}
    assert row.best


def test_one_replica_is_fed_by_one_host() -> None:
    row = plan_row(replace(ROW, target=target("v5e-16"), replicas=1), None, None, 1)
    assert row.input_needed_examples_per_second_per_host == row.examples_per_second


def test_money_for_a_million_examples_for_an_epoch_and_for_all() -> None:
    row = plan_row(ROW, None, 3.6e6, 4)
    # 10,000 examples a second, 8 chips at 1.5 an hour
    assert row.cost_per_million_examples == pytest.approx(100 / 3600 * 12)
    assert row.cost_per_million_examples_low == pytest.approx(50 / 3600 * 12)
    assert row.cost_per_million_examples_high == pytest.approx(200 / 3600 * 12)
    assert row.hours == pytest.approx(0.1)
    assert row.cost == pytest.approx(1.2)
    assert row.hours_per_epoch == pytest.approx(0.025)
    assert row.cost_per_epoch == pytest.approx(0.3)
    assert row.hours_per_epoch_low == pytest.approx(0.0125)
    assert row.cost_per_epoch_high == pytest.approx(0.6)


def test_what_is_not_known_is_left_open() -> None:
    free = plan_row(replace(ROW, price=None), None, None, 1)
    assert (free.cost_per_million_examples, free.hours, free.cost_per_epoch) == (None, None, None)
    silent = plan_row(replace(ROW, answer=None, price=None), None, 1e6, 1)
    assert (silent.step_ms, silent.mfu_low, silent.examples_per_second_low) == (None, None, None)


SLOW = PlanRow(
    target="v5e-8", batch_per_replica=64, fits=True, step_ms=240.0, step_low_ms=200.0,
    step_high_ms=1300.0, bound_by="HBM", examples_per_price=5e6, hours=12.5, hours_low=10.0,
    hours_high=68.0, cost=120.0, cost_low=96.0, cost_high=650.0,
    cost_per_million_examples=0.0000234, cost_per_million_examples_low=0.00002,
    cost_per_million_examples_high=0.00013, note="",
)  # fmt: skip


def test_a_step_stands_with_its_range_and_what_bounds_it() -> None:
    (table,) = plan_rows.tables((replace(SLOW, hours=None),), priced=True, lasting=False)
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["step ms"] == "240 (200-1,300)"
    assert (row["bound by"], row["ex/price"], row["fits"]) == ("HBM", 5e6, "yes")


def test_the_whole_training_is_told_in_time_and_money_without_exponents() -> None:
    _, table = plan_rows.tables((SLOW,), priced=True, lasting=True)
    assert table.columns == ("TPU", "batch", "time", "cost", "a million examples")
    assert table.rows[0][2:] == ("12.5 h (10-68)", "120 (96-650)", "0.0000234 (0.00002-0.00013)")
    short = replace(SLOW, hours=0.2, hours_low=0.15, hours_high=0.3)
    shortest = replace(SLOW, hours=0.001, hours_low=0.0005, hours_high=0.02)
    _, table = plan_rows.tables((short, shortest), priced=False, lasting=True)
    assert [row[2:] for row in table.rows] == [("12 min (9-18)",), ("3.6 s (1.8-72)",)]
