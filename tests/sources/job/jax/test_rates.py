"""Where a schedule of the learning rate ends, and whether it falls."""

from collections.abc import Callable

import pytest

from tpudiag.sources.job.jax.rates import Rates, end

Schedule = Callable[[int], float]
ENDS: tuple[tuple[Schedule, tuple[int, float] | None], ...] = (
    (lambda n: -1e-3 * max(0.0, 1 - n / 160), (160, 0.0)),
    (lambda n: min(n / 20, max(0.1, 1 - n / 100)), (90, 0.1)),  # it rises first
    (lambda n: min(1.0, n / 100), None),  # it only warms up
    (lambda _: 0.1, None),
    (lambda n: 1 / (1 + n), None),  # it goes on
)


@pytest.mark.parametrize(("schedule", "ends"), ENDS)
def test_the_end_of_a_schedule(schedule: Schedule, ends: tuple[int, float] | None) -> None:
    assert end(schedule) == ends


def test_the_calls_of_a_job_and_those_that_make_an_update() -> None:
    rates = Rates()
    rates._scheduled(lambda n: max(0.0, 1 - n / 80))  # pyright: ignore[reportPrivateUsage]
    rates._accumulated(rates, None, 4)  # pyright: ignore[reportPrivateUsage]
    (found,) = rates.facts(80)
    assert (found.steps, found.steps_per_epoch, found.calls_each) == (80, 80, 4)
    assert rates.facts(0) == ()
