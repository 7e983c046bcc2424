"""The step clock of a job: how far it is, and when it ends."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tpudiag.sources.job.points import steps
from tpudiag.sources.job.points.steps import StepWatch, StopObservation


def nothing(*_: int) -> None: ...


def watched(
    warmup: int = 5,
    wanted: int = 20,
    ends: bool = False,
    told: Callable[[int, int], None] = nothing,
) -> StepWatch:
    return StepWatch(None, warmup, wanted, "", nothing, lambda: not ends, nothing, told)


def ticking(monkeypatch: pytest.MonkeyPatch, tick_s: float, at_once: int = 1) -> None:
    ticks, used = iter(range(1000)), iter(range(1000))
    clock = SimpleNamespace(
        perf_counter=lambda: next(ticks) // at_once * tick_s,
        process_time=lambda: next(used) // at_once * tick_s,
    )
    monkeypatch.setattr(steps, "time", clock)


def test_it_says_how_far_it_is_until_it_ends_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "TELL_S", 0.0)
    told: list[tuple[int, int]] = []
    watch = watched(2, 3, ends=True, told=lambda done, total: told.append((done, total)))
    for _ in range(4):
        watch.finished_dispatch()
    with pytest.raises(StopObservation):
        watch.finished_dispatch()
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


def test_short_steps_are_not_told_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 0.01)
    told: list[int] = []
    watch = watched(5, 95, told=lambda done, _: told.append(done))
    for _ in range(100):
        watch.finished_dispatch()
    assert 2 < len(told) < 20


def test_a_step_after_an_evaluation_says_nothing_of_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticking(monkeypatch, 9.0)
    watch = watched()
    watch.budget_s = 30.0
    for _ in range(100):
        watch.finished_dispatch(unusual=True)
    assert watch.steps == 25


@pytest.mark.parametrize(("step_s", "profiled"), [(1.0, 23), (5.0, 6), (9.0, 4), (30.0, 4)])
def test_slow_steps_are_few(step_s: float, profiled: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, step_s, at_once=2)
    watch = watched()
    watch.budget_s = 30.0
    for _ in range(100):
        watch.finished_dispatch()
    assert watch.steps == 2 + profiled
