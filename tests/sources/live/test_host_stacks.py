"""Where a process's Python stands, by py-spy on a real process; and what its lines mean."""

import subprocess
import sys
from pathlib import Path

import pytest

from tpudiag.sources.live.host_stacks import parsed, sample

WAITING = """\
import sys, threading, time
def wait_for_input():
    print("ready", flush=True)
    time.sleep(600)
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
wait_for_input()
"""


@pytest.mark.slow
def test_the_line_that_a_process_waits_in(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(WAITING)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = sample(process.pid, 1.0)
        process.kill()
    assert found.fault is None
    assert found.samples > 10
    place = found.places[0]
    assert (place.location.file, place.location.line) == (str(script), 4)
    assert place.function == "wait_for_input"
    assert place.share > 0.9, "the other thread does not count"


def test_the_users_line_stands_for_what_the_library_does_below_it() -> None:
    library = "/venv/lib/python3.11/site-packages/tensorflow/python/eager"
    found = parsed(
        f"thread (1): MainThread;main (/job/t.py:9);run (/job/t.py:5);quick ({library}/e.py:53) 3\n"
        f"thread (1): MainThread;main (/job/t.py:9);run (/job/t.py:5);other ({library}/e.py:9) 1\n"
        "thread (1): MainThread;main (/job/t.py:9);<module> (<frozen importlib>:7) 4\n"
        "thread (2): Thread-1;work (/job/t.py:1) 99\n"
        "nonsense\n",
        1,
    )
    assert found.samples == 8
    assert [(str(p.location), p.function, p.inside, p.share) for p in found.places] == [
        ("/job/t.py:5", "run", "quick", 0.5),
        ("/job/t.py:9", "main", "<module>", 0.5),
    ]


def test_a_process_without_thread_names() -> None:
    raw = "thread (7);<module> (<string>:3) 4\nthread (8);work (/job/t.py:1) 9\n"
    (place,) = parsed(raw, 7).places
    assert (str(place.location), place.samples) == ("<string>:3", 4)


@pytest.mark.parametrize("raw", ["", "thread (2): Thread-1;work (/job/t.py:1) 9\n"])
def test_no_sample_of_the_main_thread_is_no_figure(raw: str) -> None:
    assert parsed(raw, 1).fault == "py-spy saw no Python frame of its main thread"


def test_a_process_that_has_ended() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert sample(process.pid, 1.0).fault == "the process has ended"


def test_a_process_that_is_no_python() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        fault = sample(process.pid, 1.0).fault
        process.kill()
    assert fault is not None
    assert fault.startswith("py-spy failed: ")
    assert "\n" not in fault


def test_without_py_spy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sample(1, 1.0).fault == "py-spy is not installed: pip install py-spy"


def test_a_py_spy_that_may_not_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = tmp_path / "py-spy"
    refusing.write_text("#!/bin/sh\necho 'Error: Permission denied (os error 13)' >&2; exit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    fault = sample(1, 1.0).fault
    assert fault is not None
    assert fault.startswith("reading its stacks is not permitted: ")
