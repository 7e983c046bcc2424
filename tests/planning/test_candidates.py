"""Which batch a plan takes, and why."""

from typing import Any

import pytest

from tests import made
from tests.prediction.programs import PLAIN
from tpudiag.compiled import Compilation, OutOfMemory
from tpudiag.diagnoses import plan_report
from tpudiag.hardware import target
from tpudiag.model import Framework, Verdict
from tpudiag.options.kinds import batches, doubled
from tpudiag.planning import candidates
from tpudiag.planning.candidates import Plan
from tpudiag.prediction.step import PredictedStep
from tpudiag.prediction.times import Range

V5E = target("v5e-8")
GIB = 2**30


def compiled(batch: int, target: str = "v5e-8", replicas: int = 8, **fields: Any) -> Compilation:
    return Compilation(
        target=target, batch=batch, replicas=replicas, compiler="libtpu 1",
        usable_bytes=16 * GIB, **fields,
    )  # fmt: skip


def silent(batch: int, why: str) -> Compilation:
    """A compilation without an answer."""
    return compiled(batch, error=why)


def predicted(batch: int, ms: float) -> PredictedStep:
    """A step that takes so long, give or take a fifth."""
    return made.predicted(Range(0.8 * ms, ms, 1.2 * ms), batch)


def answer(batch: int, gib: float, flops: float = 1.0, step_ms: float | None = None) -> Compilation:
    """A compilation with the need, and FLOPs and ms an example."""
    step = batch * 0.01 if step_ms is None else step_ms
    return compiled(
        batch, temporary_bytes=int(gib * GIB), flops=flops * batch, compiled=True, program=PLAIN,
        predicted=predicted(batch, step + 0.1),
    )  # fmt: skip


def refused(batch: int) -> Compilation:
    full = OutOfMemory("E1000: CompileTimeHbmOom", 36 * GIB, 16 * GIB)
    return compiled(batch, out_of_memory=full)


def plan(*answers: Compilation) -> Plan:
    return Plan(V5E, answers={a.batch: a for a in answers})


def chosen(made: Plan) -> tuple[int, str]:
    best = candidates.best(made.rows())
    assert best is not None
    return best.batch, candidates.why(best, made.rows())


def test_the_bisection_closes_in_on_the_largest_batch_that_fits() -> None:
    made, asked = plan(answer(64, 1), answer(128, 2), refused(1024)), 0
    while (middle := made.middle()) is not None:
        made.answers[middle] = answer(middle, 4) if middle <= 300 else refused(middle)
        asked += 1
    assert asked <= 6
    assert 300 - 300 // 8 - 8 <= made.largest_fitting() <= 300
    assert all(batch % 8 == 0 for batch in made.answers)
    assert plan(answer(64, 1), answer(128, 2)).middle() is None, "all fit"


def test_a_batch_that_fits_only_by_recomputation_is_not_taken() -> None:
    slow = answer(512, 15.0, flops=1.3, step_ms=512 * 0.0123)
    batch, why = chosen(plan(answer(128, 8.8), answer(256, 12), slow))
    assert batch == 256
    assert why == "512 fits, but recomputes: 30% more FLOPs and 16% more time an example"


def test_a_batch_without_headroom_is_not_taken() -> None:
    assert chosen(plan(answer(128, 8), answer(256, 15.5))) == (
        128,
        "256 fits, but leaves 3% of the HBM",
    )


def test_a_larger_batch_that_is_no_faster_is_not_taken() -> None:
    same = [answer(b, 1, step_ms=b * 10.0) for b in (64, 128, 256)]
    assert chosen(plan(*same)) == (64, "256 fits, but is no faster an example")


def test_the_end_of_what_fits_is_said() -> None:
    assert chosen(plan(answer(128, 8), refused(256))) == (128, "256 does not fit")
    assert chosen(plan(answer(128, 8)))[1].startswith("the largest that was asked for")


def test_a_batch_above_a_refused_one_is_never_a_fit() -> None:
    made = plan(answer(128, 8), refused(256))
    made.skipped.add(512)
    last = made.rows()[-1]
    assert last.fits is False
    assert candidates.note(last) == "not tried"


def test_an_answer_that_never_came_is_unknown_not_a_fit() -> None:
    made = plan(answer(128, 8), silent(256, "it took longer than 1 s"))
    table = plan_report.report("job", (made,)).tables[0]
    assert [row[2] for row in table.rows] == ["yes", "unknown"]
    assert "it took longer" in str(table.rows[1][-1])
    assert chosen(made) == (128, "whether 256 fits is not known")


def test_a_target_on_which_nothing_fits_fails_the_plan() -> None:
    made = plan_report.report("job", (plan(refused(8)),))
    assert (made.outcomes[0].id, made.outcomes[0].verdict) == ("TPU301", Verdict.FAILED)
    assert "E1000" in made.outcomes[0].findings[0].message
    assert (made.headline, made.exit_code()) == ("No batch was seen to fit.", 1)


def test_nothing_known_is_skipped_not_passed() -> None:
    made = plan_report.report("job", (plan(silent(8, "died")),))
    assert made.outcomes[0].verdict is Verdict.SKIPPED
    assert made.headline.startswith("Whether a batch fits is not known: 1 of 1 ")


def test_prices_choose_between_targets() -> None:
    dear = plan(answer(128, 8, step_ms=1.0))
    cheap = Plan(target("v6e-8"), answers={128: answer(128, 8, step_ms=2.0)})
    dear.price, cheap.price = 3.0, 1.0
    made = plan_report.report("job", (dear, cheap))
    assert "v6e-8" in made.headline
    dear.price = cheap.price = None
    assert "v5e-8" in plan_report.report("job", (dear, cheap)).headline


def test_without_the_price_of_all_targets_the_faster_chip_is_taken() -> None:
    cheap = Plan(V5E, price=0.1, answers={128: answer(128, 8, step_ms=20.0)})
    fast = Plan(target("v6e-8"), answers={128: answer(128, 8, step_ms=10.0)})
    headline = plan_report.report("job", (cheap, fast)).headline or ""
    assert "v6e-8, by the predicted time of a chip" in headline


def test_a_generation_that_no_tensorflow_drives_is_told_but_of_a_jax_step() -> None:
    seven = Plan(target("tpu7x-8"), answers={128: answer(128, 8)})
    notes = plan_report.report("job", (seven,)).notes
    assert plan_report.LOWERED in notes
    assert any("no TensorFlow can drive it" in note for note in notes)
    of_jax = plan_report.report("job", (seven,), framework=Framework.JAX)
    assert not any("TensorFlow" in note for note in of_jax.notes)


def test_one_replica_in_place_of_a_slice_is_told() -> None:
    alone = compiled(8, "v5e-24", 1, flops=8.0, compiled=True, program=PLAIN)
    made = plan_report.report("job", (Plan(target("v5e-24"), answers={8: alone}),))
    assert any("all-reduce between replicas is left out" in note for note in made.notes)


def test_a_job_without_a_strategy_is_planned_on_one_replica() -> None:
    made = Plan(V5E, alone=True, answers={128: answer(128, 1, step_ms=10.0)})
    report = plan_report.report("job", (made,), examples=128 * 360_000)
    assert any("makes no TPUStrategy: it trains on one of the 8" in note for note in report.notes)
    assert not any("all-reduce" in note for note in report.notes)
    (row,) = report.plan
    assert row.examples_per_second == pytest.approx(12_800, rel=0.02)
    assert row.hours == pytest.approx(1.0, rel=0.02)


def test_batches_are_doubled_up_to_the_last() -> None:
    assert doubled(64, 1024) == batches("64..1024") == (64, 128, 256, 512, 1024)
    assert doubled(64, 300) == (64, 128, 256, 300)
    assert batches("256, 64") == (64, 256)


def test_hours_and_money_have_the_range_of_the_step() -> None:
    made = Plan(V5E, price=2.0, answers={128: answer(128, 8, step_ms=9.9)})
    report = plan_report.report("job", (made,), examples=1_024 * 360_000)
    _, whole = report.tables
    assert whole.columns == ("TPU", "batch", "time", "cost", "a million examples")
    assert whole.rows == (("v5e-8", 128, "1 h (0.8-1.2)", "16 (13-19)", "0.0434 (0.035-0.052)"),)
    (row,) = report.plan
    assert (row.hours, row.hours_low, row.hours_high) == pytest.approx((1.0, 0.8, 1.2), rel=0.01)
    assert row.cost == pytest.approx(16.0, rel=0.01)
    assert row.examples_per_second == pytest.approx(102_400, rel=0.01)
