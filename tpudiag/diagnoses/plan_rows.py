"""The rows of a plan's report: figures of one batch on one target."""

from tpudiag.compiled import Compilation
from tpudiag.planning import candidates as planning
from tpudiag.planning.candidates import Row
from tpudiag.prediction.step import PredictedStep
from tpudiag.prediction.times import Range
from tpudiag.report_figures import PlanRow

MS_PER_HOUR, MILLION = 3.6e6, 1e6


def plan_row(row: Row, chosen: Row | None, examples: float | None, epochs: float) -> PlanRow:
    """One row as the report keeps it."""
    answer = row.answer
    predicted = answer.predicted if answer is not None else None
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
        split_ms={bound.value: ms for bound, ms in predicted.split_ms} if predicted else {},
        flops_per_example=predicted.flops_per_example if predicted else None,
        hbm_bytes_per_example=predicted.hbm_bytes_per_example if predicted else None,
        collective_bytes_per_step=predicted.collective_bytes if predicted else None,
        **_collectives(answer),
        **_rates(row, predicted),
        examples_per_price=row.rate_per_price,
        **_lasting(row, examples, epochs),
        **_per_million(row),
        note=planning.note(row) or "",
    )


def _ends(name: str, value: Range) -> dict[str, float]:
    return {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}


def _collectives(answer: Compilation | None) -> dict[str, float]:
    spent = answer.collective_ms if answer is not None else None
    if spent is None:
        return {}
    return {
        "collective_ms": spent.value,
        "collective_low_ms": spent.low,
        "collective_high_ms": spent.high,
    }


def _rates(row: Row, predicted: PredictedStep | None) -> dict[str, float]:
    if predicted is None:
        return {}
    rate = predicted.examples_per_second(row.replicas)
    hosts = min(row.target.hosts, row.replicas)  # each feeds its own chips
    return {
        **_ends("mfu", predicted.mfu),
        **_ends("hbm_use", predicted.hbm_use),
        **_ends("examples_per_second", rate),
        **_ends("examples_per_second_per_chip", rate * (1 / row.target.chips)),
        **_ends("input_needed_examples_per_second_per_host", rate * (1 / hosts)),
    }


def _lasting(row: Row, examples: float | None, epochs: float) -> dict[str, float]:
    if row.step is None or not examples:
        return {}
    hours = row.step * (examples / (row.batch * row.replicas) / MS_PER_HOUR)
    figures = _ends("hours", hours) | _ends("hours_per_epoch", hours * (1 / epochs))
    if row.price is not None:
        cost = hours * (row.target.chips * row.price)
        figures |= _ends("cost", cost) | _ends("cost_per_epoch", cost * (1 / epochs))
    return figures


def _per_million(row: Row) -> dict[str, float]:
    if row.step is None or row.price is None:
        return {}
    money = row.price * row.target.chips / MS_PER_HOUR
    cost = row.step * (MILLION / (row.batch * row.replicas) * money)
    return _ends("cost_per_million_examples", cost)
