"""The history of one job that is killed once, and its time by the ledger."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
