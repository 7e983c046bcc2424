"""The rows of a plan as its report keeps them: figures of one batch on one target."""

from __future__ import annotations

from tpudiag.planning import candidates as planning
from tpudiag.planning.candidates import Row
from tpudiag.report_figures import PlanRow

MS_PER_HOUR, MILLION = 3.6e6, 1e6


def plan_row(row: Row, chosen: Row | None, examples: float | None, epochs: float) -> PlanRow:
    """One row as the report keeps it."""
    answer = row.answer
    predicted = answer.predicted if answer is not None else None
    rate = predicted.examples_per_second(row.replicas) if predicted else None
    return PlanRow(
        target=row.target.name,
        batch_per_replica=row.batch,
        fits=row.fits,
        recomputes=row.recomputes,
        best=chosen is not None and row.batch == chosen.batch,
        hbm_need_bytes=answer.need_bytes if answer is not None else None,
        headroom=answer.headroom if answer is not None else None,
        more_flops=row.more_flops,
        step_ms=row.step.value if row.step else None,
        step_low_ms=row.step.low if row.step else None,
        step_high_ms=row.step.high if row.step else None,
        bound_by=predicted.bound_by.value if predicted else None,
        mfu=predicted.mfu.value if predicted else None,
        mfu_low=predicted.mfu.low if predicted else None,
        mfu_high=predicted.mfu.high if predicted else None,
        hbm_use=predicted.hbm_use.value if predicted else None,
        hbm_use_low=predicted.hbm_use.low if predicted else None,
        hbm_use_high=predicted.hbm_use.high if predicted else None,
        collective_ms=answer.collective_ms if answer is not None else None,
        flops_per_example=predicted.flops_per_example if predicted else None,
        hbm_bytes_per_example=predicted.hbm_bytes_per_example if predicted else None,
        collective_bytes_per_step=predicted.collective_bytes if predicted else None,
        examples_per_second=row.rate and row.rate * row.target.chips,
        examples_per_second_low=rate.low if rate else None,
        examples_per_second_high=rate.high if rate else None,
        examples_per_second_per_chip=row.rate,
        input_needed_examples_per_second_per_host=row.rate
        and row.rate * row.target.chips / row.target.hosts,
        examples_per_price=row.rate_per_price,
        **_lasting(row, examples, epochs),
        **_per_million(row),
        note=planning.note(row) or "",
    )


def _lasting(row: Row, examples: float | None, epochs: float) -> dict[str, float]:
    """Hours and money for so many examples, each with its range; nothing where it is not known."""
    if row.step is None or not examples:
        return {}
    hours = row.step * (examples / (row.batch * row.replicas) / MS_PER_HOUR)
    figures = {"hours": hours.value, "hours_low": hours.low, "hours_high": hours.high}
    figures["hours_per_epoch"] = hours.value / epochs
    if row.price is not None:
        cost = hours * (row.target.chips * row.price)
        figures |= {"cost": cost.value, "cost_low": cost.low, "cost_high": cost.high}
        figures["cost_per_epoch"] = cost.value / epochs
    return figures


def _per_million(row: Row) -> dict[str, float]:
    """Money for a million examples, with its range; nothing where it is not known."""
    if row.step is None or row.price is None:
        return {}
    money = row.price * row.target.chips / MS_PER_HOUR
    cost = row.step * (MILLION / (row.batch * row.replicas) * money)
    return {
        "cost_per_million_examples": cost.value,
        "cost_per_million_examples_low": cost.low,
        "cost_per_million_examples_high": cost.high,
    }
