"""The detector on traces it was not chosen on: false alarms, delays, recovery, stalls."""

import math
from typing import Any

import pytest

from tests.monitoring import traces
from tpudiag.monitoring.detector import DropDetector, Pauses, Reference
from tpudiag.monitoring.recording import NS, Window
from tpudiag.signals import ThroughputDrop

pytestmark = pytest.mark.slow

HELD_OUT = 900_000
DAY = 86_400


def watch(took_s: list[float], reference: Reference | None = None) -> DropDetector:
    detector, now = DropDetector(reference), 0.0
    for took in took_s:
        now += took
        detector.add(int(now * NS), took, 1)
    return detector


def found_after_s(made: Any) -> float:
    """From the drop to its alarm; no alarm may come before it."""
    took, ends = made.took_s.tolist(), made.ends_s.tolist()
    detector = DropDetector()
    for index, (end, one) in enumerate(zip(ends, took, strict=True)):
        detector.add(int(end * NS), one, 1)
        if detector.drops:
            assert index >= made.drop_at, "a false alarm before the drop"
            return float(end - ends[made.drop_at - 1])
    return math.inf


def test_at_most_one_false_alarm_in_ten_days() -> None:
    """Ten days of steps of a second, of every kind of noise, with pauses and refills."""
    alarms: list[ThroughputDrop] = []
    for number in range(10):
        made = traces.trace(HELD_OUT + number, DAY)
        alarms += watch(made.took_s.tolist()).drops
    assert len(alarms) <= 1


@pytest.mark.parametrize(("drop", "within_s"), [(0.2, 120), (0.5, 30)])
def test_a_drop_is_found_in_time(drop: float, within_s: float) -> None:
    for number in range(12):
        made = traces.trace(HELD_OUT + 100 + number, 3_600, drop, "normal")
        assert found_after_s(made) <= within_s, number


def test_what_is_said_of_a_drop_and_its_end() -> None:
    fast, slow = [1.0] * 900, [1.25] * 300
    detector = watch([*fast, *slow, *fast])
    (drop,) = detector.drops
    assert drop.share == pytest.approx(0.2, abs=0.01)
    assert drop.since_ns / NS == pytest.approx(900, abs=2)
    assert drop.ended_ns is not None
    assert drop.ended_ns / NS == pytest.approx(900 + 375, abs=60)
    assert detector.open is None
    assert detector.per_s == pytest.approx(1.0)


def test_a_drop_that_lasts_does_not_become_normal() -> None:
    detector = watch([1.0] * 900 + [1.25] * 20_000)
    assert len(detector.drops) == 1
    assert detector.open is not None
    assert detector.baseline_per_s == pytest.approx(1.0)


def test_a_faster_job_is_no_drop() -> None:
    assert not watch([1.0] * 900 + [0.5] * 900).drops


def test_nothing_is_said_before_there_is_a_baseline() -> None:
    detector = watch([1.0] * 50 + [3.0] * 100)
    assert detector.baseline_per_s is None
    assert not detector.drops


def test_half_speed_from_the_third_minute_on_is_a_drop() -> None:
    detector = watch([1.0] * 180 + [2.0] * 600)
    (drop,) = detector.drops
    assert drop.against == "the job's first minutes"
    assert drop.share == pytest.approx(0.5, abs=0.01)
    assert drop.found_ns / NS < 300
    assert detector.baseline_per_s == pytest.approx(1.0)


def test_what_is_expected_is_judged_after_the_first_minute() -> None:
    detector = watch([2.0] * 40, Reference(1.0, "what --expect gives", given=True))
    assert not detector.drops, "it may be warm-up"
    detector = watch([2.0] * 100, Reference(1.0, "what --expect gives", given=True))
    assert [drop.against for drop in detector.drops] == ["what --expect gives"]
    assert not watch([2.0] * 900, Reference(0.52, "what --expect gives", given=True)).drops


def test_a_baseline_that_wanders_is_doubtful() -> None:
    steps = [1.0 + 0.8 * (second // 60 % 2) for second in range(900)]
    detector = watch(steps)
    assert detector.drops
    doubted = DropDetector()
    doubted.baseline.level, doubted.baseline.wander = 0.0, 0.2
    assert doubted.doubt is not None
    assert "45%" in doubted.doubt
    assert watch([1.0] * 900).doubt is None


def test_slow_steps_are_judged_by_steps() -> None:
    """Steps of 20 s: the baseline takes 30 minutes, not hours."""
    detector = watch([20.0] * 100 + [40.0] * 12)
    assert detector.open is not None
    assert detector.open.share == pytest.approx(0.5, abs=0.02)


def window(number: int, at_s: float, took_s: float) -> Window:
    end_ns = int((at_s + took_s) * NS)
    return Window(number=number, start_ns=int(at_s * NS), end_ns=end_ns, steps=1)


def test_a_normal_pause_is_learned_and_a_single_stall_is_not() -> None:
    pauses, at_s = Pauses(), 0.0
    for number in range(20_000):
        took = 60.0 if number % 1_000 == 999 else 1.0
        pauses.add(window(number, at_s, took))
        at_s += took
    assert pauses.normal_s == pytest.approx(60)
    pauses.add(window(20_000, at_s, 2_000.0))
    assert pauses.normal_s == pytest.approx(60), "one hang is no habit"
    pauses.add(window(20_001, at_s + 2_000, 2_000.0))
    assert pauses.normal_s == pytest.approx(2_000)


def test_while_little_is_known_ten_minutes_are_granted() -> None:
    pauses = Pauses()
    pauses.add(window(0, 0, 1.0))
    assert 3 * pauses.normal_s == pytest.approx(600)
    assert 3 * pauses.announced_s == pytest.approx(3_600)
