"""The cost of examples at the predicted step."""

from collections.abc import Mapping
from dataclasses import replace

from tpudiag import hardware
from tpudiag.diagnoses.report_parts import Figures
from tpudiag.model import Report
from tpudiag.prediction.times import Range
from tpudiag.report_figures import Measurement

MILLION, SECONDS_PER_HOUR = 1e6, 3600.0
DIGITS = 6
NOT_PREDICTED = "Nothing was priced: the step was not predicted."
NO_PRICE = "Nothing was priced: --cost has no price of {generation}."
MONEY = "in the money of --cost"


def priced(report: Report, chip_hour: Mapping[str, float], examples: float | None) -> Report:
    """The report with the cost of a million examples, and of the epoch's where known.

    A note gives the reason for a missing cost, where a price or examples were given.
    """
    if not chip_hour and examples is None:
        return report
    rate = report.measurements.get("predicted_examples_per_second")
    if rate is None or report.target is None or not rate.low or not rate.high:
        return _noted(report, NOT_PREDICTED)
    target = hardware.target(report.target.name)
    figures = Figures(report.measurements)
    price = chip_hour.get(target.hardware.name)
    a_second = None if price is None else price * target.chips / SECONDS_PER_HOUR
    hours = None if examples is None else examples / SECONDS_PER_HOUR
    epoch = None if examples is None or a_second is None else examples * a_second
    million = None if a_second is None else MILLION * a_second
    for name, amount, unit in (
        ("predicted_hours_per_epoch", hours, "h"),
        ("predicted_cost_per_million_examples", million, MONEY),
        ("predicted_cost_per_epoch", epoch, MONEY),
    ):
        figures.put(name, _over(amount, rate), unit, rate.source, DIGITS)
    if price is None and chip_hour:
        report = _noted(report, NO_PRICE.format(generation=target.hardware.name))
    return replace(report, measurements=dict(figures))


def _noted(report: Report, note: str) -> Report:
    return replace(report, notes=(*report.notes, note))


def _over(amount: float | None, rate: Measurement) -> Range | None:
    """An amount divided by the predicted rate, whose fast end gives the low end of the cost."""
    ends = (rate.high, rate.value, rate.low)
    return None if amount is None else Range(*(amount / float(end or 1.0) for end in ends))
