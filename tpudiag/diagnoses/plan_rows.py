"""The rows of a plan's report, figures of one batch on one target, and their tables."""

from collections.abc import Sequence

from tpudiag.hardware import GIB
from tpudiag.planning import candidates as planning
from tpudiag.planning.candidates import Row
from tpudiag.prediction.step import PredictedStep
from tpudiag.prediction.times import Range
from tpudiag.report_figures import PlanRow, Table, Value

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
        **_ends("step", row.step, "_ms"),
        bound_by=predicted.bound_by.value if predicted else None,
        split_ms={bound.value: ms for bound, ms in predicted.split_ms} if predicted else {},
        flops_per_example=predicted.flops_per_example if predicted else None,
        hbm_bytes_per_example=predicted.hbm_bytes_per_example if predicted else None,
        collective_bytes_per_step=predicted.collective_bytes if predicted else None,
        **_ends("collective", answer.collective_ms if answer is not None else None, "_ms"),
        **_rates(row, predicted),
        examples_per_price=row.rate_per_price,
        **_whole_training(row, examples, epochs),
        **_per_million(row),
        note=planning.note(row) or "",
    )


def _ends(name: str, value: Range | None, unit: str = "") -> dict[str, float]:
    if value is None:
        return {}
    return {f"{name}{unit}": value.value, f"{name}_low{unit}": value.low,
            f"{name}_high{unit}": value.high}  # fmt: skip


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


def _whole_training(row: Row, examples: float | None, epochs: float) -> dict[str, float]:
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


TITLE = "Plan"
SOURCE = "TPU compiler; times are predicted"
COLUMNS = (
    "TPU", "batch", "fits", "GiB", "free%", "+FLOP%", "step ms", "bound by", "ex/s/chip",
)  # fmt: skip
"""Batch per replica; HBM need and headroom; FLOPs per example above the smallest batch's; the
predicted step with its range, and its examples per second and chip."""
PER_PRICE = "ex/price"
WHOLE, TIME, COST, PER_MILLION = "The whole training", "time", "cost", "a million examples"
"""For the requested examples, over the prediction's range."""


def tables(plan: Sequence[PlanRow], priced: bool, lasting: bool) -> tuple[Table, ...]:
    """The plan, and the whole training where known; `priced` where the cost is."""
    per_price = priced and not lasting
    columns = (*COLUMNS, *((PER_PRICE,) if per_price else ()), "note")
    first = Table(TITLE, columns, tuple(_cells(row, per_price) for row in plan), SOURCE)
    return (first, *_whole(plan, priced))


def _whole(plan: Sequence[PlanRow], priced: bool) -> tuple[Table, ...]:
    lasting = [row for row in plan if row.hours is not None]
    money = (COST, PER_MILLION) if priced else ()
    rows = tuple(_time_and_cost(row, priced) for row in lasting)
    return (Table(WHOLE, ("TPU", "batch", TIME, *money), rows, SOURCE),) if rows else ()


def _time_and_cost(r: PlanRow, priced: bool) -> tuple[Value, ...]:
    low, high = r.cost_per_million_examples_low, r.cost_per_million_examples_high
    million = _between(r.cost_per_million_examples, low, high)
    money = (_between(r.cost, r.cost_low, r.cost_high), million) if priced else ()
    return (r.target, r.batch_per_replica, _duration(r.hours, r.hours_low, r.hours_high), *money)


def _cells(row: PlanRow, priced: bool) -> tuple[Value, ...]:
    need, headroom, more = row.hbm_need_bytes, row.headroom, row.more_flops
    fits = {True: "yes", False: "no", None: "unknown"}[row.fits]
    best = ("best; " if row.note else "best") if row.best else ""
    return (
        row.target,
        row.batch_per_replica,
        "recomputes" if row.recomputes else fits,
        _shown(None if need is None else need / GIB, 3),
        _shown(None if headroom is None else 100 * headroom, 1),
        _shown(None if more is None else 100 * more, 1),
        _between(row.step_ms, row.step_low_ms, row.step_high_ms),
        row.bound_by or "",
        _shown(row.examples_per_second_per_chip, 1),
        *((_shown(row.examples_per_price, 0),) if priced else ()),
        best + row.note,
    )


def _between(
    value: float | None, low: float | None, high: float | None, unit: str = "", scale: int = 1
) -> Value:
    """A figure with its range, `240 (200-1,300)`, or an empty cell."""
    if value is None or low is None or high is None:
        return ""
    ends = f"({_short(low * scale, 2)}-{_short(high * scale, 2)})"
    return f"{_short(value * scale, 3)}{unit} {ends}"


def _duration(hours: float | None, low: float | None, high: float | None) -> Value:
    """A time with its range, `12 min (9-20)`, or an empty cell."""
    at = hours or 0
    unit, scale = (" h", 1) if at >= 1 else (" min", 60) if at >= 1 / 60 else (" s", 3600)
    return _between(hours, low, high, unit, scale)


def _short(value: float, digits: int) -> str:
    """A figure with so many digits, written out: 240 and 0.000024, not 2.4e+02 and 2.4e-05."""
    rounded = float(f"{value:.{digits}g}")
    whole, _, part = f"{rounded:,.12f}".partition(".")
    return f"{whole}.{part}".rstrip("0").rstrip(".")


def _shown(value: float | None, digits: int) -> Value:
    return "" if value is None else round(value, digits)
