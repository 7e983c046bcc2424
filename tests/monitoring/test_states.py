"""The one state of a run, by its row, its process and its silence."""

import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tpudiag.monitoring.reader import read
from tpudiag.monitoring.recorder import Recorder
from tpudiag.monitoring.recording import NS, Run
from tpudiag.monitoring.states import Heard, state
from tpudiag.monitoring.store import Store
from tpudiag.signals.run_state import StateKind

RUN = Run(
    id="a", name="train.py", host=os.uname().nodename, pid=os.getpid(), started_ns=0, beat_ns=0
)
HEARD = Heard(steps=9, here=True, quiet_s=0.5, silent_s=0.5, hangs_after_s=10.0)
GONE = replace(RUN, pid=1 << 22)


@pytest.mark.parametrize(
    ("run", "heard", "kind"),
    [
        (RUN, HEARD, StateKind.STEPPING),
        (RUN, replace(HEARD, steps=0), StateKind.COMPILING),
        (RUN, replace(HEARD, silent_s=11.0), StateKind.SILENT),
        (replace(RUN, pausing="evaluation"), HEARD, StateKind.PAUSING),
        (RUN, replace(HEARD, quiet_s=31.0), StateKind.LOST),
        (GONE, replace(HEARD, quiet_s=4.0), StateKind.KILLED),
        (GONE, HEARD, StateKind.STEPPING),  # its end may be written in this moment
        (RUN, replace(HEARD, here=False, quiet_s=61.0), StateKind.LOST),
        (RUN, replace(HEARD, here=False, quiet_s=59.0), StateKind.STEPPING),
        (replace(RUN, ended_ns=NS), HEARD, StateKind.COMPLETED),
        (replace(RUN, ended_ns=NS, failure="ValueError"), HEARD, StateKind.FAILED),
        (replace(RUN, ended_ns=NS, exit_code=143), HEARD, StateKind.EXITED),
    ],
)
def test_each_state_by_what_is_known(run: Run, heard: Heard, kind: StateKind) -> None:
    assert state(run, heard).kind is kind


def test_of_a_lost_recording_the_end_of_its_process_is_not_known() -> None:
    now = state(GONE, replace(HEARD, quiet_s=90.0, was_lost=True))
    assert (now.kind, now.lives) == (StateKind.LOST, False)
    assert "how it ended is not known" in now.text
    killed = replace(HEARD, quiet_s=90.0, was_lost=True, killed_by="out of memory")
    assert state(GONE, killed).kind is StateKind.KILLED


def test_a_wall_clock_that_was_set_makes_no_process_another() -> None:
    run = replace(
        RUN, machine="here", monotonic_ns=time.perf_counter_ns(), started_ns=50 * NS,
        process_started_ns=49 * NS,
    )  # fmt: skip
    assert state(run, replace(HEARD, quiet_s=5.0)).kind is StateKind.STEPPING
    before = replace(run, process_started_ns=-(10**9) * NS)
    assert state(before, replace(HEARD, quiet_s=5.0)).kind is StateKind.KILLED


LOOP = """
import sys, threading
import tpudiag
def loop():
    for x in tpudiag.track(range(100), path="a.sqlite"):
        if x == 5:
            leave()
"""
ENDINGS = {
    "sys.exit": ("leave = lambda: sys.exit(3)\nloop()", 3, None),
    "exit": ("leave = lambda: exit(3)\nloop()", 3, None),
    "SystemExit": ("def leave(): raise SystemExit(3)\nloop()", 3, None),
    "a text": ("leave = lambda: sys.exit('FATAL: no quota')\nloop()", 1, "FATAL: no quota"),
    "an error that was caught": (
        "def leave(): raise ValueError('no data')\ntry: loop()\nexcept Exception: sys.exit(1)",
        1,
        "ValueError: no data",
    ),
    "in a thread": (
        "def leave(): raise ValueError('no data')\n"
        "one = threading.Thread(target=loop)\none.start()\none.join()",
        None,
        "ValueError: no data",
    ),
    "well": ("leave = lambda: sys.exit(0)\nloop()", None, None),
    "an exit that was caught": (
        "def leave():\n    try: sys.exit(3)\n    except SystemExit: pass\nloop()",
        None,
        None,
    ),
}


@pytest.mark.parametrize(("script", "code", "failure"), ENDINGS.values(), ids=ENDINGS)
def test_how_the_script_left_is_recorded(
    tmp_path: Path, script: str, code: int | None, failure: str | None
) -> None:
    (tmp_path / "train.py").write_text(LOOP + script + "\n", encoding="utf-8")
    command = [sys.executable, "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == (code or 0), "the job leaves as it would have"
    found = read(tmp_path / "a.sqlite").run
    assert found.ended_ns is not None
    assert found.exit_code == code
    assert (found.failure or "").startswith(failure or "")
    assert bool(found.failure) == bool(failure)


def test_a_recording_that_was_deleted_goes_on_in_a_new_file_and_the_loss_is_counted(
    tmp_path: Path,
) -> None:
    folder, kept = tmp_path / "logs", threading.Event()

    class Watched(Store):
        def write(self, *what: Any, **more: Any) -> None:
            super().write(*what, **more)
            kept.set()

    made = Recorder(lambda: Watched(folder / "a.sqlite"), "test", flush_s=0.01)
    made.step(3)
    while made.stored_steps < 3:
        made.step(1)
        kept.clear()
        assert kept.wait(10)
    stored = made.stored_steps
    shutil.rmtree(folder)
    kept.clear()
    assert kept.wait(10)
    made.close()
    found = read(folder / "a.sqlite").run
    assert found.lost_steps == stored
