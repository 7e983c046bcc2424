"""Where the time of a job went: parts that add up, over pauses, stalls and restarts."""

from dataclasses import replace

import pytest

from tests.monitoring import goodput_history
from tpudiag.monitoring.ledger import Ledger, TimeUse, together
from tpudiag.monitoring.recording import NS, Recording, Run, Window

RUN = Run(
    id="a",
    name="train.py",
    host="host",
    pid=1,
    started_ns=110 * NS,
    beat_ns=110 * NS,
    process_started_ns=100 * NS,
)


THEIRS = {
    "GOODPUT": 65.2597, "TPU_INITIALIZATION": 1.2987, "TRAINING_PREP": 3.2468,
    "DATA_LOADING_SYNC": 0.6494, "PROGRAM_STARTUP": 3.8961, "CHECKPOINT": 2.9221,
    "EVALUATION": 11.6883, "WASTED_PROGRESS_FROM_DISRUPTION": 3.1818,
    "INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION": 7.8571, "OTHER": 0.0,
}  # fmt: skip
"""Percent of the same history by the package ml-goodput-measurement 0.2.3."""
SHARES = {
    (TimeUse.STEPS, TimeUse.INPUT): ("GOODPUT",),
    (TimeUse.START_UP,): ("TPU_INITIALIZATION", "TRAINING_PREP", "DATA_LOADING_SYNC"),
    (TimeUse.COMPILE,): ("PROGRAM_STARTUP",),
    # They have a save that a kill made worthless as lost progress, we as the save that it was.
    (TimeUse.SAVE,): ("CHECKPOINT",),
    (TimeUse.EVALUATION,): ("EVALUATION",),
    (TimeUse.REPEATED,): ("WASTED_PROGRESS_FROM_DISRUPTION",),
    (TimeUse.DOWN,): ("INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION",),
}


def window(number: int, start_s: float, took_s: float, **changed: float | None) -> Window:
    made = Window(
        number=number, start_ns=int(start_s * NS), end_ns=int((start_s + took_s) * NS), steps=10
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def recording(run: Run, *windows: Window) -> Recording:
    last_ns = max([w.end_ns for w in windows] + [run.started_ns])
    return Recording(replace(run, beat_ns=last_ns), windows, "a.sqlite")


def test_the_parts_of_a_run_add_up() -> None:
    ledger = Ledger()
    ledger.take(
        recording(
            RUN,
            window(0, 110, 20, compile_ms=15_000.0),
            window(1, 130, 60, wait_ms=6_000.0),
            window(2, 190, 60, pause_ms=35_000.0, checkpoint_ms=10_000.0),
            window(3, 250, 100, stalled_ms=70_000.0),
        )
    )
    account = ledger.account()
    assert account.total_s == pytest.approx(250)
    assert {use: round(seconds, 6) for use, seconds in account.spent.items()} == {
        TimeUse.START_UP: 10,
        TimeUse.COMPILE: 15,
        TimeUse.STEPS: 5 + 54 + 25 + 30,
        TimeUse.INPUT: 6,
        TimeUse.OTHER: 25,
        TimeUse.SAVE: 10,
        TimeUse.STALLED: 70,
    }
    assert account.goodput == pytest.approx(114 / 250)
    assert sum(sum(one.values()) for one in account.minutes.values()) == pytest.approx(250)


def restarted(*, saved: bool, ended: bool = False) -> Ledger:
    ledger = Ledger()
    ms, at_ns = (5_000.0, 135 * NS) if saved else (0.0, None)
    first = recording(
        RUN,
        window(0, 110, 20),
        window(1, 130, 20, pause_ms=ms, checkpoint_ms=ms, saved_ns=at_ns),
        window(2, 150, 40),
    )
    if ended:
        first = replace(first, run=replace(first.run, ended_ns=190 * NS))
    ledger.take(first)
    again = replace(RUN, id="b", pid=2, started_ns=230 * NS, process_started_ns=220 * NS)
    restored = window(0, 230, 10, pause_ms=4_000.0, restore_ms=4_000.0)
    ledger.take(recording(again, restored, window(1, 240, 60)))
    return ledger


def test_a_kill_repeats_what_was_stepped_since_the_last_checkpoint() -> None:
    account = restarted(saved=True).account()
    assert account.total_s == pytest.approx(200)
    assert account.spent[TimeUse.DOWN] == pytest.approx(30)
    assert account.spent[TimeUse.START_UP] == pytest.approx(20)
    assert account.spent[TimeUse.SAVE] == pytest.approx(5)
    assert account.spent[TimeUse.RESTORE] == pytest.approx(4)
    assert account.spent[TimeUse.REPEATED] == pytest.approx(15 + 40)
    assert account.spent[TimeUse.STEPS] == pytest.approx(20 + 66)
    assert not account.restarts_unknown


def test_without_a_checkpoint_seen_it_is_said_that_repeats_are_not_known() -> None:
    account = restarted(saved=False).account()
    assert account.restarts_unknown
    assert TimeUse.REPEATED not in account.spent
    assert not restarted(saved=False, ended=True).account().restarts_unknown


def test_a_run_that_ended_well_repeats_nothing() -> None:
    assert TimeUse.REPEATED not in restarted(saved=True, ended=True).account().spent


def test_polls_in_parts_say_the_same() -> None:
    ledger = Ledger()
    for found in (
        recording(RUN),
        recording(RUN, window(0, 110, 20)),
        recording(RUN),
        recording(RUN, window(1, 130, 20, pause_ms=3_000.0, evaluation_ms=3_000.0)),
    ):
        ledger.take(found)
    account = ledger.account()
    assert account.total_s == pytest.approx(50)
    assert account.spent[TimeUse.EVALUATION] == pytest.approx(3)


def test_what_goes_on_since_the_last_step_and_workers_together() -> None:
    ledger = Ledger()
    ledger.take(recording(RUN, window(0, 110, 20)))
    account = ledger.account(TimeUse.STALLED, 190 * NS)
    assert account.spent[TimeUse.STALLED] == pytest.approx(60)
    both = together([account, account])
    assert both.total_s == pytest.approx(180)
    assert both.goodput == pytest.approx(20 / 90)
    assert Ledger().account().goodput is None


def test_the_same_history_by_ml_goodput_measurement() -> None:
    ours = goodput_history.account()
    for uses, names in SHARES.items():
        own = 100 * sum(ours.spent.get(use, 0.0) for use in uses) / ours.total_s
        theirs = sum(THEIRS[name] for name in names)
        assert own == pytest.approx(theirs, abs=0.6), uses
    assert ours.total_s == pytest.approx(1_540)
