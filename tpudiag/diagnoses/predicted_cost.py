"""The cost of examples at the predicted step."""

from collections.abc import Mapping
from dataclasses import replace

from tpudiag import hardware
from tpudiag.model import Report
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
    figures: dict[str, Measurement] = {}
    if examples is not None:
        hours = examples / SECONDS_PER_HOUR
        figures["predicted_hours_per_epoch"] = _over(hours, rate, "h")
    price = chip_hour.get(target.hardware.name)
    if price is not None:
        a_second = price * target.chips / SECONDS_PER_HOUR
        figures["predicted_cost_per_million_examples"] = _over(MILLION * a_second, rate, MONEY)
        if examples is not None:
            figures["predicted_cost_per_epoch"] = _over(examples * a_second, rate, MONEY)
    elif chip_hour:
        report = _noted(report, NO_PRICE.format(generation=target.hardware.name))
    return replace(report, measurements={**report.measurements, **figures})


def _noted(report: Report, note: str) -> Report:
    return replace(report, notes=(*report.notes, note))


def _over(amount: float, rate: Measurement, unit: str) -> Measurement:
    """An amount divided by the predicted rate, whose fast end gives the low end of the cost."""
    ends = (rate.value, rate.high, rate.low)
    value, low, high = (round(amount / float(end or 1.0), DIGITS) for end in ends)
    return Measurement(value, unit, rate.source, low, high)
