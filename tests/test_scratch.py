"""Folders that go with a run."""

import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import pytest

from tpudiag import scratch

KILLED = """
import os, signal, sys
from tpudiag import scratch
with scratch.folder("job") as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "a").write_text("a")
    (folder / "deep").chmod(0)
    print(folder.parent, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_all_folders_of_a_process_lie_in_one_that_goes_with_the_last(temporary: Path) -> None:
    with scratch.folder("a") as first, scratch.folder("b") as second:
        assert first.parent == second.parent
        (top,) = temporary.iterdir()
        assert top.stat().st_mode & 0o777 == 0o700
        (first / "kept").mkdir(mode=0)
        assert scratch.lifeline() >= 0
    assert list(temporary.iterdir()) == []
    assert scratch.lifeline() == -1


def test_nothing_is_left_of_a_process_that_was_killed(temporary: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED], capture_output=True, text=True, check=False,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    top = Path(done.stdout.strip())
    assert top.parent == temporary
    until = time.monotonic() + 60
    while top.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not top.exists()


def test_what_may_be_large_lies_on_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")
    for in_memory, place in (([], None), (["/tmp/"], "/var/tmp"), (["/tmp/", "/var/"], None)):
        monkeypatch.setattr(scratch, "_in_memory", partial(list[str], in_memory))
        assert scratch._on_disk() == place  # pyright: ignore[reportPrivateUsage]
