"""Samples of a profiler service, with captures of our own and a clock of our own."""

import pytest

from tpudiag.errors import UnreadableInput
from tpudiag.monitoring import run_signals
from tpudiag.monitoring.clocks import Clock
from tpudiag.monitoring.follower import Watched
from tpudiag.monitoring.profiler_source import EVERY_S, ProfilerSource, Sample
from tpudiag.monitoring.recording import NS
from tpudiag.signals import StepTimes
from tpudiag.signals.run_state import RunState, StateKind


class Trainer:
    """Makes steps of so many ms until it is gone."""

    def __init__(self) -> None:
        self.now, self.captures = 1_790_000_000.0, 0
        self.step_ms: float | None = 100.0
        self.gone = False
        source = ProfilerSource("host:6009", self.capture, now=lambda: self.now)
        clock = Clock(lambda: int(self.now * NS), lambda: int(self.now * NS))
        self.watched = Watched(source, clock)

    def capture(self, address: str) -> Sample:
        self.captures += 1
        if self.gone:
            raise UnreadableInput(f"{address}: nothing listens there")
        if self.step_ms is None:
            return Sample(None)
        steps = StepTimes(
            step_ms=(self.step_ms,) * 10, input_wait_ms=(self.step_ms / 10,) * 10, source="profile"
        )
        return Sample(steps, 10 * self.step_ms)

    def run(self, seconds: float) -> None:
        for _ in range(int(seconds / 2)):
            assert self.watched.poll()
            self.now += 2


def test_a_second_every_half_minute() -> None:
    trainer = Trainer()
    trainer.run(600)
    assert trainer.captures == 600 / EVERY_S
    figures = trainer.watched.figures()
    assert figures.steps == 10 * trainer.captures
    assert figures.per_s == pytest.approx(10)
    assert figures.input_share == pytest.approx(0.1)


def test_the_time_between_many_steps_counts() -> None:
    busy = StepTimes(step_ms=(5.0,) * 100, input_wait_ms=None, source="profile")
    assert Sample(busy, 1_000.0).span_ms == 1_000
    assert Sample(busy).span_ms == 500
    assert (
        Sample(StepTimes(step_ms=(900.0,), input_wait_ms=None, source="profile"), 1_000.0).span_ms
        == 900
    )


def test_a_drop_and_a_stall_are_seen_in_samples() -> None:
    trainer = Trainer()
    trainer.run(3_600)
    trainer.step_ms = 150.0
    trainer.run(600)
    throughput = run_signals.signals(trainer.watched).throughput
    assert throughput is not None
    assert [round(drop.share, 2) for drop in throughput.drops] == [0.33]
    trainer.step_ms = None
    trainer.run(900)
    silent_s = trainer.watched.figures().silent_s
    assert silent_s is not None
    assert silent_s > 3 * trainer.watched.normal_pause_s()


def test_a_trainer_that_is_gone_may_have_ended() -> None:
    trainer = Trainer()
    trainer.run(60)
    trainer.gone = True
    trainer.run(60)
    assert trainer.watched.state.kind is not StateKind.LOST, "one capture may fail"
    trainer.run(60)
    assert trainer.watched.state == RunState(StateKind.LOST, "host:6009: nothing listens there")
    throughput = run_signals.signals(trainer.watched).throughput
    assert throughput is not None
    assert throughput.unsure is not None


def test_an_address_that_never_answered_is_an_error() -> None:
    trainer = Trainer()
    trainer.gone = True
    with pytest.raises(UnreadableInput, match="nothing listens there"):
        trainer.watched.poll()
