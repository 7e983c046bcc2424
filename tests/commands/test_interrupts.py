"""Signals while a report is being finished."""

import contextlib
import itertools
import os
import signal

import pytest

from tpudiag.commands._interrupts import SIGNALS, Interrupts


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_one_in_the_last_seconds_waits(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    phases: list[str] = []
    with Interrupts(itertools.count(0.0, 1.0).__next__) as interrupts:
        hear = interrupts.finishing_at("judging", phases.append)
        hear("judging")
        os.kill(os.getpid(), number)
        assert interrupts.waits
        assert "finishing the report; once more ends at once" in capsys.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert phases == ["judging"]
    assert signal.getsignal(number) == before


def test_before_that_it_ends_the_work_and_the_next_one_its_report() -> None:
    with Interrupts(itertools.count(0.0, 1.0).__next__) as interrupts:
        hear = interrupts.finishing_at("judging", lambda _: None)
        hear("observing")
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        hear("judging")
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert not interrupts.waits


def test_one_that_got_lost_is_seen_at_the_next_look() -> None:
    with Interrupts(itertools.count(0.0, 1.0).__next__) as interrupts:
        interrupts.look()
        with contextlib.suppress(KeyboardInterrupt):  # as a finaliser does
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            interrupts.look()


def test_the_one_signal_of_a_group_and_its_process_is_one() -> None:
    times = iter((0.0, 0.01, 1.0))
    with Interrupts(times.__next__):
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
