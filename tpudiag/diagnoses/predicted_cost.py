"""What examples cost at the predicted step, in the user's money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tpudiag import hardware
from tpudiag.model import Report
from tpudiag.report_figures import Measurement

MILLION, SECONDS_PER_HOUR = 1e6, 3600.0
DIGITS = 6
MONEY = "in the money of --cost"


def priced(report: Report, chip_hour: Mapping[str, float], examples: float | None) -> Report:
    """The report with the cost of a million examples, and of the epoch's where they are known.

    As it is where the step was not predicted or the generation has no price.
    """
    rate = report.measurements.get("predicted_examples_per_second")
    if rate is None or report.target is None or not rate.low or not rate.high:
        return report
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
    return replace(report, measurements={**report.measurements, **figures})


def _over(amount: float, rate: Measurement, unit: str) -> Measurement:
    """An amount divided by the predicted rate, whose fast end is the low end of what it costs."""
    ends = (rate.value, rate.high, rate.low)
    value, low, high = (round(amount / float(end or 1.0), DIGITS) for end in ends)
    return Measurement(value, unit, rate.source, low, high)
