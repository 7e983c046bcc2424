"""Which runs follow each other in one worker, and which workers are judged."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tpudiag.monitoring.recording import NS, Run
from tpudiag.monitoring.run_sources import Lane, StoredRun, judged, lanes, session

FILE = Path("throughput.sqlite")


def stored(
    id_: str, start_s: int, beat_s: int, *, ended: bool = True, path: Path = FILE, **changed: object
) -> StoredRun:
    run = Run(
        id=id_, name="train.py", host="host", pid=1, started_ns=start_s * NS, beat_ns=beat_s * NS
    )
    run = replace(run, ended_ns=beat_s * NS if ended else None)
    return StoredRun(path, replace(run, **changed))  # type: ignore[arg-type]


def ids(found: list[Lane]) -> list[list[str]]:
    return [[one.run.id for one in lane] for lane in found]


def dead(_: Run) -> bool:
    return False


def test_epochs_follow_each_other_and_workers_do_not() -> None:
    runs = [stored("a1", 0, 10), stored("b", 1, 50, pid=2), stored("a2", 11, 30)]
    assert ids(lanes(runs, dead)) == [["a1", "a2"], ["b"]]


def test_a_restart_follows_what_was_killed_but_not_what_lives() -> None:
    runs = [stored("a", 0, 10, ended=False), stored("b", 12, 30, pid=2)]
    assert ids(lanes(runs, dead)) == [["a", "b"]]
    assert ids(lanes(runs, lambda run: run.pid == 1)) == [["a"], ["b"]]


def test_restarts_of_two_workers_keep_to_their_host_or_number() -> None:
    others: tuple[dict[str, Any], ...] = ({"host": "other"}, {"worker": "worker 1"})
    for apart in others:
        runs = [
            stored("a1", 0, 10, ended=False),
            stored("b1", 0, 11, ended=False, pid=2, **apart),
            stored("b2", 20, 30, pid=3, **apart),
            stored("a2", 21, 30, pid=4),
        ]
        assert sorted(ids(lanes(runs, dead))) == [["a1", "a2"], ["b1", "b2"]]


def test_another_script_is_another_job() -> None:
    runs = [stored("a", 0, 10), stored("b", 20, 30, name="other.py")]
    found = lanes(runs, dead)
    assert ids(found) == [["a"], ["b"]]
    assert ids(judged(found)) == [["b"]], "what ran before the newest job began is not judged"


def test_a_worker_that_fell_silent_while_others_began_an_epoch_is_judged() -> None:
    runs = [
        stored("a1", 0, 10),
        stored("b", 0, 5, ended=False, pid=2),
        stored("a2", 11, 30),
    ]
    assert ids(judged(lanes(runs, lambda run: run.pid == 2))) == [["a1", "a2"], ["b"]]


def test_yesterdays_runs_are_another_session() -> None:
    runs = [stored("old", 0, 10), stored("new", 90_000, 90_010), stored("next", 90_020, 90_030)]
    (lane,) = lanes(runs, dead)
    assert [one.run.id for one in session(lane)] == ["new", "next"]
