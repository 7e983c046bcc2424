"""How a run ended is recorded: completed, gone on with, crashed, forked."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tpudiag
from tpudiag.monitoring import crashes
from tpudiag.monitoring.reader import read
from tpudiag.monitoring.recorder import Recorder
from tpudiag.monitoring.store import Store

CRASH = """
import tpudiag
for x in tpudiag.track(range(3), path="epoch0.sqlite"):
    pass
for x in tpudiag.track(range(10), path="a.sqlite"):
    if x == 5:
        raise ValueError("no more data")
"""


def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(script, encoding="utf-8")
    command = [sys.executable, "train.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_an_exception_in_the_loop_is_how_the_run_ended(tmp_path: Path) -> None:
    done = run(tmp_path, CRASH)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: no more data"), "the job's own traceback"
    found = read(tmp_path / "a.sqlite")
    assert found.run.failure is not None
    assert found.run.failure.startswith("ValueError: no more data (")
    assert found.run.failure.endswith("train.py:7)")
    assert found.steps == 5
    before = read(tmp_path / "epoch0.sqlite").run
    assert before.failure is None, "it had ended well"
    assert before.last_ns <= found.run.started_ns


def test_a_second_loop_goes_on_with_the_run(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    steps = tpudiag.track([1, 2, 3], path=path)
    for _ in range(4):
        assert list(steps) == [1, 2, 3]
    found = read(path)
    assert (found.steps, found.run.lost_steps) == (12, 0)
    assert sum(window.paused for window in found.windows) == 3, "between the loops"
    assert found.run.ended_ns is not None
    assert found.run.failure is None


def test_a_fork_records_a_run_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    steps = tpudiag.track(range(3), path=path)
    child = os.fork()
    if not child:
        try:
            for _ in steps:
                pass
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    found = read(path)
    assert (found.run.pid, found.steps) == (child, 3)
    steps.recorder.close()


class Slow(Store):
    """A sink whose writes take as long as set."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.writing = threading.Event(), threading.Event(), False

    def write(self, run: object, windows: object, traces: object = ()) -> None:  # noqa: ARG002
        self.writing = True
        self.begun.set()
        self.go_on.wait(10)
        self.writing = False

    def gone(self) -> bool:
        return False

    def close(self) -> None:
        pass


def test_no_fork_happens_in_the_midst_of_a_write() -> None:
    sink = Slow()
    recorder = Recorder(lambda: sink, "train.py")
    recorder.step()
    assert sink.begun.wait(10)
    threading.Timer(0.05, sink.go_on.set).start()
    child = os.fork()
    if not child:
        os._exit(int(sink.writing))
    assert os.waitpid(child, 0)[1] == 0
    recorder.close()


def test_a_child_of_a_fork_that_waited_in_vain_records_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tpudiag.monitoring.recorder.FORK_S", 0.01)
    sink = Slow()
    recorder = Recorder(lambda: sink, "train.py")
    assert sink.begun.wait(10)
    child = os.fork()
    if not child:
        recorder.step()
        os._exit(0 if recorder.lost_steps == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    sink.go_on.set()
    recorder.close()
    assert recorder.failure is None


@pytest.mark.parametrize("count", [0, -1])
def test_what_is_no_count_is_refused_where_it_is_given(tmp_path: Path, count: int) -> None:
    with pytest.raises(ValueError, match="global_batch_size is"):
        tpudiag.track([1], global_batch_size=count, path=tmp_path / "a")
    with pytest.raises(ValueError, match="steps_per_round is"):
        tpudiag.track([1], steps_per_round=count, path=tmp_path / "a")
    with pytest.raises(ValueError, match="global_batch_size is"):
        tpudiag.ThroughputCallback(global_batch_size=count)


def test_the_users_innermost_line_is_named() -> None:
    with pytest.raises(OSError) as caught:
        Path("/nowhere/at/all").read_text(encoding="utf-8")
    text = crashes.error_line(caught.value, caught.value.__traceback__)
    assert text.startswith("FileNotFoundError: ")
    assert f"({__file__}:" in text


def test_what_is_there_can_be_listed() -> None:
    assert {"check", "read", "track", "Report"} <= set(dir(tpudiag))
