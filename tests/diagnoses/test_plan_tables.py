"""The tables of a plan, as a person reads them."""

from __future__ import annotations

from dataclasses import replace

from tpudiag.diagnoses import plan_tables
from tpudiag.report_figures import PlanRow

SLOW = PlanRow(
    target="v5e-8",
    batch_per_replica=64,
    fits=True,
    step_ms=240.0,
    step_low_ms=200.0,
    step_high_ms=1300.0,
    bound_by="HBM",
    examples_per_price=5e6,
    hours=12.5,
    hours_low=10.0,
    hours_high=68.0,
    cost=120.0,
    cost_low=96.0,
    cost_high=650.0,
    cost_per_million_examples=0.0000234,
    cost_per_million_examples_low=0.00002,
    cost_per_million_examples_high=0.00013,
    note="",
)


def test_a_step_stands_with_its_range_and_what_bounds_it() -> None:
    (table,) = plan_tables.tables((replace(SLOW, hours=None),), priced=True, lasting=False)
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["step ms"] == "240 (200-1,300)"
    assert (row["bound by"], row["ex/price"], row["fits"]) == ("HBM", 5e6, "yes")


def test_the_whole_training_is_told_in_time_and_money_without_exponents() -> None:
    _, table = plan_tables.tables((SLOW,), priced=True, lasting=True)
    assert table.columns == ("TPU", "batch", "time", "cost", "a million examples")
    assert table.rows[0][2:] == (
        "12.5 h (10-68)",
        "120 (96-650)",
        "0.0000234 (0.00002-0.00013)",
    )
    short = replace(SLOW, hours=0.2, hours_low=0.15, hours_high=0.3)
    shortest = replace(SLOW, hours=0.001, hours_low=0.0005, hours_high=0.02)
    _, table = plan_tables.tables((short, shortest), priced=False, lasting=True)
    assert [row[2:] for row in table.rows] == [("12 min (9-18)",), ("3.6 s (1.8-72)",)]
