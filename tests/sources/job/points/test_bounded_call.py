"""Calls that may fail or never come back."""

import threading

from tpudiag.sources.job.points.bounded_call import within


def test_what_comes_back_in_time_is_given() -> None:
    assert within(60.0, lambda: 3) == 3
    assert within(60.0, lambda: None) is None


def test_what_fails_or_hangs_is_none() -> None:
    def fails() -> int:
        raise ValueError("no such file")

    ended = threading.Event()

    def hangs() -> int:
        ended.wait(60.0)
        return 3

    assert within(60.0, fails) is None
    assert within(0.01, hangs) is None
    ended.set()
