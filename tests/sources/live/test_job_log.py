"""The log of a running process, from what it has open."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tpudiag.sources.live.job_log import END_BYTES, log_end


def opened(proc: Path, descriptor: int, target: Path) -> None:
    folder = proc / "77" / "fd"
    folder.mkdir(parents=True, exist_ok=True)
    user = "\t".join([str(os.geteuid())] * 4)
    (proc / "77" / "status").write_text(f"Name:\ttrain\nUid:\t{user}\n", encoding="ascii")
    (folder / str(descriptor)).symlink_to(target)


def test_end_of_the_file_that_it_writes(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"x" * END_BYTES + b"\xff the end\n")
    opened(tmp_path / "proc", 2, log)
    end = log_end(77, tmp_path / "proc")
    assert end.endswith("the end\n") and len(end) <= END_BYTES


def test_one_file_for_both_is_read_once(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("said once\n")
    opened(tmp_path / "proc", 1, log)
    opened(tmp_path / "proc", 2, log)
    assert log_end(77, tmp_path / "proc") == "said once\n"


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    opened(tmp_path / "proc", 1, Path("/dev/null"))
    opened(tmp_path / "proc", 2, tmp_path / "gone.log")
    assert log_end(77, tmp_path / "proc") == ""
    assert log_end(78, tmp_path / "proc") == ""


@pytest.mark.slow
def test_real_process(tmp_path: Path) -> None:
    with (tmp_path / "train.log").open("wb") as log:
        code = "import os, sys; os.write(2, b'Socket closed\\n'); sys.stdin.read()"
        child = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stderr=log,
            stdout=subprocess.PIPE,
        )
        while not (tmp_path / "train.log").stat().st_size:
            assert child.poll() is None
        assert log_end(child.pid) == "Socket closed\n"
        child.communicate(b"")
