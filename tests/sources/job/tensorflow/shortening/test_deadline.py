"""The end of the time for the rest of a script."""

import threading

import pytest

from tpudiag.sources.job.tensorflow.shortening import deadline
from tpudiag.sources.job.tensorflow.shortening.deadline import BudgetSpent, Deadline


def test_a_job_that_goes_on_is_told_then_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "GRACE_S", 0.05)
    told, ended = threading.Event(), threading.Event()
    clock = Deadline(0.01, ended.set)

    def job() -> None:
        clock.start()
        clock.check()
        try:
            while not ended.is_set():
                ended.wait(0.001)
        except BudgetSpent:
            told.set()

    thread = threading.Thread(target=job)
    thread.start()
    assert told.wait(100) and ended.wait(10), "it did not end by itself: so it is ended"
    thread.join()
    with pytest.raises(BudgetSpent):
        clock.check()


def test_a_job_that_ends_in_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "TOLD_EVERY_S", 0.01)
    ended, told = threading.Event(), threading.Event()
    clock = Deadline(60.0, ended.set)
    clock.tell = told.set
    clock.start()
    assert told.wait(10), "it may be killed"
    clock.cancel()
    clock.check()
    assert not clock.spent and not ended.is_set()


def test_a_job_that_is_near_its_end_gets_half_as_much_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deadline, "NEAR_END_SHARE", 6000.0)
    asked, ended = threading.Event(), threading.Event()

    def near_end() -> bool:
        asked.set()
        return True

    clock = Deadline(0.01, ended.set, near_end)
    clock.start()
    assert asked.wait(100)
    clock.check()
    assert not clock.spent and not ended.is_set()
    clock.cancel()
