"""Nothing is left of a rehearsal, however it ends: no file of ours, and no process."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sources.job.process.isolation.places import CONFINED

pytestmark = pytest.mark.slow

JOB = """\
import os, signal, socket, subprocess, sys, tempfile

held = open(tempfile.mkdtemp(prefix="of-the-job-") + "/a", "w")
talk = socket.create_connection(("127.0.0.1", int(os.environ["PORT"])))
subprocess.Popen(["sleep", "600"], start_new_session=True, pass_fds=[talk.fileno()])
talk.sendall(b".")
end = os.environ["END"]
if end == "raises":
    raise ValueError("of the job")
if end == "dies":
    os.kill(os.getpid(), signal.SIGSEGV)
if end != "finishes":
    talk.recv(1)
"""
FULL = 'with open("/dev/full", "w") as file:\n    file.write("x")\n'
"""As a job finds the disk on which what is held back lies."""
WALLED = (sys.executable, str(CONFINED), "docker")
ENDS = [
    ("finishes", (), ()), ("raises", (), ()), ("dies", (), ()), ("raises", ("--in-place",), ()),
    ("SIGINT", (), ()), ("SIGTERM", (), ()), ("SIGHUP", (), ()), ("SIGKILL", (), ()),
    ("SIGKILL", ("--in-place",), ()), ("SIGKILL", (), WALLED),
]  # fmt: skip


@pytest.mark.parametrize(("end", "options", "before"), ENDS)
def test_nothing_is_left(
    tmp_path: Path, end: str, options: tuple[str, ...], before: tuple[str, ...]
) -> None:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    (home / "job.py").write_text(JOB)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)
        variables = {"PORT": str(server.getsockname()[1]), "END": end, "TMPDIR": str(temporary)}
        command = [*before, sys.executable, "-m", "tpudiag", "check", "--no-compile", "job.py"]
        with subprocess.Popen(
            [*command, *options], cwd=home, env={**os.environ, "HOME": str(home), **variables},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            talk, _ = server.accept()
            assert talk.recv(1) == b"."
            (own,) = temporary.iterdir()
            assert own.stat().st_mode & 0o777 == 0o700
            if end.startswith("SIG"):
                process.send_signal(getattr(signal, end))
            process.wait(60)
        talk.settimeout(60)
        assert talk.recv(1) == b"", "the last process that holds it has ended"
        talk.close()
    until = time.monotonic() + 60
    while own.exists() and time.monotonic() < until:
        os.sched_yield()
    assert list(temporary.iterdir()) == []
    assert {path.name for path in home.iterdir()} <= {"job.py", "tpudiag-logs"}


@pytest.mark.parametrize("before", [(), WALLED], ids=["layer", "wall"])
def test_no_room_is_told_in_a_line_and_is_no_error_of_the_script(
    tmp_path: Path, before: tuple[str, ...]
) -> None:
    (tmp_path / "job.py").write_text(FULL)
    command = [*before, sys.executable, "-m", "tpudiag", "check", "--no-compile", "job.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "tpudiag: job.py:1: ended by the room in $TMPDIR"
    )
    assert "TPU605" not in done.stdout
