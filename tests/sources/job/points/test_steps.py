"""The step clock of a job: how far it is, and when it ends."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tpudiag.sources.job.points import steps
from tpudiag.sources.job.points.steps import StepWatch, StopObservation


def test_it_says_how_far_it_is_until_it_ends_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "TELL_S", 0.0)
    told: list[tuple[int, int]] = []
    watch = StepWatch(
        None,
        2,
        3,
        "",
        on_first=lambda: None,
        on_stop=lambda: False,
        on_swallowed=lambda: None,
        on_step=lambda done, total: told.append((done, total)),
    )
    for _ in range(4):
        watch.finished_dispatch()
    with pytest.raises(StopObservation):
        watch.finished_dispatch()
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


def test_short_steps_are_not_told_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(1000))
    clock = SimpleNamespace(perf_counter=lambda: next(ticks) * 0.01)
    monkeypatch.setattr("tpudiag.sources.job.points.steps.time", clock)
    told: list[int] = []
    watch = StepWatch(
        None,
        5,
        95,
        "",
        on_first=lambda: None,
        on_stop=lambda: True,
        on_swallowed=lambda: None,
        on_step=lambda done, _: told.append(done),
    )
    for _ in range(100):
        watch.finished_dispatch()
    assert 2 < len(told) < 20


def test_a_step_after_an_evaluation_says_nothing_of_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = iter(range(1000))
    clock = SimpleNamespace(perf_counter=lambda: next(ticks) * 9.0)
    monkeypatch.setattr("tpudiag.sources.job.points.steps.time", clock)
    watch = StepWatch(
        None,
        5,
        20,
        "",
        on_first=lambda: None,
        on_stop=lambda: True,
        on_swallowed=lambda: None,
    )
    watch.budget_s = 30.0
    for _ in range(100):
        watch.finished_dispatch(unusual=True)
    assert watch.steps == 25


@pytest.mark.parametrize(("step_s", "profiled"), [(1.0, 23), (9.0, 3), (15.0, 3), (30.0, 3)])
def test_slow_steps_are_few(step_s: float, profiled: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(1000))
    clock = SimpleNamespace(perf_counter=lambda: next(ticks) // 2 * step_s)
    monkeypatch.setattr("tpudiag.sources.job.points.steps.time", clock)
    watch = StepWatch(
        None,
        5,
        20,
        "",
        on_first=lambda: None,
        on_stop=lambda: True,
        on_swallowed=lambda: None,
    )
    watch.budget_s = 30.0
    for _ in range(100):
        watch.finished_dispatch()
    assert watch.steps == 2 + profiled
