"""The suite itself: bounded memory, and an end where a worker dies."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

DIES = """
import os, signal, time

def test_before(): pass

def test_that_dies():
    if not os.fork():  # a process of the worker's that outlives it
        time.sleep(200)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)
"""
LONG = "import time\ndef test_long(): time.sleep(200)\ndef test_longer(): time.sleep(200)\n"


def test_memory_is_bounded() -> None:
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    assert limit != resource.RLIM_INFINITY
    with pytest.raises(MemoryError):
        bytearray(limit)


@pytest.mark.slow
def test_a_worker_that_dies_ends_the_run_with_the_name_of_its_test(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_bytes(Path(__file__).with_name("conftest.py").read_bytes())
    (tmp_path / "test_dies.py").write_text(DIES)
    for number in range(4):
        (tmp_path / f"test_long_{number}.py").write_text(LONG)
    options = "-p no:cacheprovider --import-mode=importlib -n 2 --dist loadfile -c /dev/null"
    command = [sys.executable, "-m", "pytest", *options.split(), str(tmp_path)]
    with (tmp_path / "said").open("w+") as said:  # no pipe, which what outlives it would hold open
        code = subprocess.run(
            command, stdout=said, stderr=said, timeout=150, check=False
        ).returncode
        said.seek(0)
        text = said.read()
    assert code == 1, text
    assert "died in test_dies.py::test_that_dies" in text
