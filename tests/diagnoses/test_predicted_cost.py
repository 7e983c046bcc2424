"""What examples cost at the predicted step."""

import pytest

from tests import made
from tpudiag.diagnoses.predicted_cost import NO_PRICE, NOT_PREDICTED, priced
from tpudiag.model import Report, TargetSummary
from tpudiag.report_figures import Measurement

RATE = Measurement(1000.0, "examples/s", "predicted", 500.0, 2000.0)


def report(**measurements: Measurement) -> Report:
    return made.report(target=TargetSummary("v5e-8", 8), measurements=measurements)


def test_of_a_million_examples_and_of_an_epoch() -> None:
    figures = priced(report(predicted_examples_per_second=RATE), {"v5e": 1.5}, 3.6e6).measurements
    million = figures["predicted_cost_per_million_examples"]
    # 8 chips at 1.5 an hour, 1000 seconds
    assert million.value == pytest.approx(12 / 3.6)
    assert million.low == pytest.approx(6 / 3.6)
    assert million.high == pytest.approx(24 / 3.6)
    assert figures["predicted_hours_per_epoch"].value == 1.0
    assert figures["predicted_cost_per_epoch"].value == 12.0


def test_what_is_not_known_is_said() -> None:
    assert priced(report(), {}, None) == report(), "nothing was asked for"
    assert priced(report(), {"v5e": 1.5}, 10.0).notes == (NOT_PREDICTED,)
    other = priced(report(predicted_examples_per_second=RATE), {"v4": 3.0}, None)
    assert other.measurements == {"predicted_examples_per_second": RATE}
    assert other.notes == (NO_PRICE.format(generation="v5e"),)
