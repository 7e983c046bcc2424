"""The history of one job that is killed once, made for two accounts of its time.

`python -m tests.monitoring.goodput_history` prints both side by side; the other one is the package
ml-goodput-measurement, which that Python must have.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from tpudiag.monitoring.ledger import Account, Ledger
from tpudiag.monitoring.recording import NS, Pause, Recording, Run
from tpudiag.monitoring.windows import Step, Windows

BEGAN_S = 1_700_000_000
INIT_S, PREPARE_S, LOAD_S, COMPILE_S, STEP_S = 10.0, 25.0, 5.0, 30.0, 1.0
SAVE_EVERY, SAVE_S, EVALUATE_EVERY, EVALUATE_S = 100, 5.0, 300, 60.0
STEPS, KILLED_AT, DOWN_S = 1_000, 650, 120.0
"""It is killed in the step of this number, and begins anew after this time."""


@dataclass(frozen=True)
class Happening:
    """Something in the history; `step` is its number, or -1."""

    kind: str
    start_s: float
    end_s: float
    step: int = -1


def history() -> Iterator[Happening]:
    """All that happens, in the order of its end."""
    now_s, first = float(BEGAN_S), 0
    for killed in (True, False):
        yield Happening("job", now_s, now_s)
        for kind, took_s in (("init", INIT_S), ("prepare", PREPARE_S), ("load", LOAD_S)):
            yield Happening(kind, now_s, now_s + took_s)
            now_s += took_s
        for step in range(first, KILLED_AT if killed else STEPS):
            took_s = STEP_S + COMPILE_S * (step == first)
            begun_s, now_s = now_s, now_s + took_s
            # A save, or an evaluation, comes within the step, as both accounts have it.
            for kind, every, pause_s in (
                ("checkpoint", SAVE_EVERY, SAVE_S),
                ("evaluation", EVALUATE_EVERY, EVALUATE_S),
            ):
                if step % every == every - 1:
                    yield Happening(kind, now_s, now_s + pause_s)
                    now_s += pause_s
            yield Happening("step", begun_s, now_s, step)
        if killed:
            yield Happening("killed", now_s, now_s)
            now_s, first = now_s + DOWN_S, KILLED_AT // SAVE_EVERY * SAVE_EVERY
    yield Happening("end", now_s, now_s)


def account() -> Account:
    """The history by the ledger, from what a recorder would have kept."""
    ledger, run = Ledger(), Run(id="", name="train.py", host="h", pid=0, started_ns=0, beat_ns=0)
    steps: list[Step] = []
    pauses: list[Pause] = []
    for one in history():
        at_ns = int(one.end_s * NS)
        if one.kind == "job":
            steps, pauses = [], []
            run = replace(run, id=str(at_ns), pid=run.pid + 1, process_started_ns=at_ns)
        elif one.kind == "load":
            run = replace(run, started_ns=at_ns)
        elif one.kind in ("checkpoint", "evaluation"):
            pauses.append(Pause(one.kind, int(one.start_s * NS), at_ns))
        elif one.kind == "step":
            steps.append((at_ns, 1, -1, -1))
        elif one.kind in ("killed", "end"):
            ended = one.kind == "end"
            made = Windows(0, run.started_ns, None)
            windows = tuple(made.add(steps, pauses, None, ended=ended))
            run = replace(run, beat_ns=at_ns, ended_ns=at_ns if ended else None)
            ledger.take(Recording(run, windows, "made"))
    return ledger.account()


def theirs() -> dict[str, float]:
    """The history by ml-goodput-measurement: percent of the job's time, by its own names."""
    goodput: Any = import_module("ml_goodput_measurement.src.goodput")
    log = _Log()
    recorder: Any = goodput.GoodputRecorder("job", "log", True, log)
    for one in history():
        start, end = (datetime.fromtimestamp(at_s, UTC) for at_s in (one.start_s, one.end_s))
        if one.kind == "job":
            recorder.record_job_start_time(start)
        elif one.kind == "init":
            recorder.record_tpu_init_start_time(start)
            recorder.record_tpu_init_end_time(end)
        elif one.kind == "prepare":
            recorder.record_training_preparation_start_time(start)
            recorder.record_training_preparation_end_time(end)
        elif one.kind == "load":
            recorder.record_data_loading_start_time(start)
            recorder.record_data_loading_end_time(end)
        elif one.kind == "step":
            recorder.record_step_start_time(one.step, start)
        elif one.kind in ("checkpoint", "evaluation"):
            recorder.record_custom_badput_event_start_time(start, one.kind)
            recorder.record_custom_badput_event_end_time(end, one.kind)
        elif one.kind == "end":
            recorder.record_job_end_time(end)
    with tempfile.TemporaryDirectory() as cache:
        calculator: Any = goodput.GoodputCalculator("job", "log", log, cache_dir=cache)
        answer: tuple[Any, ...] = calculator.get_job_goodput(include_badput_breakdown=True)
    share, lost = float(answer[0]), dict[Any, Any](answer[1])
    found = {"GOODPUT": share}
    # Those of custom events stand by their own names below one.
    custom: dict[str, float] = next(one for one in lost.values() if not isinstance(one, float))
    found |= {kind.name: one for kind, one in lost.items() if isinstance(one, float)}
    found |= custom
    return found


class _Log:
    """A log in memory, in the place of Cloud Logging."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []

    def write_cloud_logging_entry(self, entry: dict[str, Any]) -> None:
        """Keep it."""
        self._entries.append(entry)

    def read_cloud_logging_entries(self, *_: Any, **__: Any) -> tuple[list[dict[str, Any]], None]:
        """All of them."""
        return self._entries, None


def main() -> None:
    """Print both."""
    ours = account()
    for use, seconds in ours.spent.items():
        print(f"{use.value:40} {seconds:8.1f} s {seconds / ours.total_s:7.2%}")
    for name, percent in theirs().items():
        print(f"{name:40} {percent:18.2f} %")


if __name__ == "__main__":
    main()
