"""Slow drift: found with its slope; what jobs wander by is none."""

import math

import pytest

from tests.monitoring import traces
from tpudiag.monitoring.drift import DriftDetector
from tpudiag.monitoring.recording import NS
from tpudiag.signals import ThroughputDrift


def drift(took_s: list[float]) -> ThroughputDrift | None:
    detector, now = DriftDetector(), 0.0
    found = None
    for one in took_s:
        now += one
        detector.add(int(now * NS), one, 1)
        found = found or detector.drift
    return found


@pytest.mark.parametrize(("hours", "factor"), [(2, 2.0), (6, 2.0), (24, 1.5)])
def test_a_job_that_becomes_slower_over_hours(hours: int, factor: float) -> None:
    steps, now = [10.0] * 180, 0.0
    while now < 3_600 * hours:
        steps.append(10 * factor ** (now / 3_600 / hours))
        now += steps[-1]
    found = drift(steps)
    assert found is not None
    assert found.best_per_s == pytest.approx(0.1, rel=0.02)
    an_hour = 100 * (1 - math.exp(-math.log(factor) / hours))
    assert found.percent_per_hour == pytest.approx(an_hour, rel=0.5)


def test_steady_faster_and_short_jobs_do_not_drift() -> None:
    assert drift([10.0] * 3_000) is None
    assert drift([20.0] * 500 + [10.0] * 2_000) is None
    assert drift([10.0] * 100 + [20.0] * 50) is None, "too short to know"


@pytest.mark.slow
def test_generated_days_do_not_drift() -> None:
    for number in range(8):
        assert drift(traces.trace(900_000 + number, 40_000).took_s.tolist()) is None
