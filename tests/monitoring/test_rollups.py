"""A recording of any length gives every step and every second: roll-ups by minute and hour."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.monitoring import recordings
from tpudiag.monitoring import reader, store
from tpudiag.monitoring.ledger import TimeUse
from tpudiag.monitoring.reader import read
from tpudiag.monitoring.recording import NS, Window, bucket

DAY_S = 86_400


def recorded(path: Path, total_s: int, step_s: int, at_once: int) -> tuple[int, float]:
    """A run of so long: a stall of two hours near its beginning, a save an hour; steps and cost."""
    made = recordings.run(total_s + 7_200)
    kept, at_ns, number, steps, saved_s = store.Store(path), made.started_ns, 0, 0, 0.0
    waiting: list[Window] = []
    while at_ns < made.started_ns + total_s * NS:
        stall_s = 7_200 if number == 40 else 0
        save_s = 30 if number and number % (3_600 // step_s) == 0 else 0
        end_ns = at_ns + (step_s + stall_s + save_s) * NS
        waiting.append(
            Window(
                number=number, start_ns=at_ns, end_ns=end_ns, steps=7, examples=448,
                step_ms=((bucket(1e3 * step_s), 7),), stalled_ms=1e3 * stall_s,
                stalls=int(stall_s > 0), pause_ms=1e3 * save_s, checkpoint_ms=1e3 * save_s,
                paused=int(save_s > 0), saved_ns=end_ns - step_s * NS if save_s else None,
            )
        )  # fmt: skip
        at_ns, number, steps, saved_s = end_ns, number + 1, steps + 7, saved_s + save_s
        if len(waiting) == at_once:
            kept.write(replace(made, beat_ns=at_ns), tuple(waiting))
            kept.write(replace(made, beat_ns=at_ns), tuple(waiting))  # offered twice
            waiting = []
    kept.write(replace(made, beat_ns=at_ns), tuple(waiting))
    kept.close()
    return steps, saved_s


def judged(path: Path, steps: int, saved_s: float) -> None:
    job = recordings.polled(path)
    watched = job.slowest
    assert (watched.steps, watched.examples) == (steps, 64 * steps)
    account = watched.ledger.account(TimeUse.OTHER)
    assert account.spent[TimeUse.STALLED] == pytest.approx(7_200)
    assert account.spent[TimeUse.SAVE] == pytest.approx(saved_s)
    assert watched.pause_s == pytest.approx(saved_s)
    assert TimeUse.UNRECORDED not in account.spent
    whole_s = (watched.run.beat_ns - watched.run.started_ns) / NS
    start_up_s = account.spent.get(TimeUse.START_UP, 0.0)
    assert account.total_s == pytest.approx(whole_s + start_up_s)
    seen = read(path)
    assert len(seen.windows) < seen.windows[-1].number + 1, "the roll-ups are needed"
    again = job.poll()
    assert again
    assert watched.steps == steps, "nothing twice"


def test_hours_minutes_and_windows_join_without_a_seam(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "AT_ONCE", 300)
    monkeypatch.setattr(reader, "MINUTES_S", 3 * 3_600)
    monkeypatch.setattr(store, "KEEP_WINDOWS", 500)
    steps, saved_s = recorded(tmp_path / "a.sqlite", 12 * 3_600, 20, 37)
    judged(tmp_path / "a.sqlite", steps, saved_s)


@pytest.mark.slow
def test_a_weeks_ledger_is_exact_to_the_step(tmp_path: Path) -> None:
    steps, saved_s = recorded(tmp_path / "a.sqlite", 7 * DAY_S, 5, 5_000)
    judged(tmp_path / "a.sqlite", steps, saved_s)
