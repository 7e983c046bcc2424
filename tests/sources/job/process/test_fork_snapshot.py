"""A process that goes on where its copy asks it to, or ends as its copy did."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, signal, sys
from tpudiag.sources.job.process import fork_snapshot
from tpudiag.sources.job.process.protocol import Recorder

recorder, started = Recorder(1), os.getpid()
assert fork_snapshot.possible()
made = fork_snapshot.made(recorder)
if isinstance(made, fork_snapshot.ForkSnapshot):
    recorder.put(copy=os.getpid() != started)
    what = sys.argv[1]
    if what == "makes a folder":
        os.makedirs(sys.argv[2])
    if what == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0 if what == "asks" and made.asks_for(2) or made.asks_for(3) else 7)
recorder.put(again=made)
"""


@pytest.mark.parametrize(
    ("what", "said", "code"),
    [
        ("asks", '{"copy":true}\n{"again":2}\n', 0),
        ("makes a folder", '{"copy":true}\n', 7),
        ("dies", '{"copy":true}\n', -signal.SIGKILL),
    ],
)
def test_what_the_copy_asks_for_is_done(tmp_path: Path, what: str, said: str, code: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-B", program, what, tmp_path / "made" / "here"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.returncode) == (said, code), done.stderr


WITH_A_WORKER = """
import _thread, ctypes
from tpudiag.sources.job.process import fork_snapshot

named, ended = _thread.allocate_lock(), _thread.allocate_lock()
named.acquire(), ended.acquire()

def work():
    ctypes.CDLL(None).prctl(15, b"a_library", 0, 0, 0)  # PR_SET_NAME
    named.release()
    ended.acquire()

_thread.start_new_thread(work, ())
named.acquire()
assert not fork_snapshot.possible()
"""


def test_what_a_library_s_threads_hold_is_not_copied() -> None:
    done = subprocess.run(
        [sys.executable, "-B", "-c", WITH_A_WORKER],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
