"""Programs that harm files, started by the launcher in every way that this machine knows."""

import os
import signal
import subprocess
from collections.abc import Generator

import pytest

from tests.sources.job.process.isolation.places import (
    STRANGER,
    Place,
    changed,
    harmed,
    launched,
    make,
    place,
    python_of,
    state,
)
from tpudiag.script_run import Isolation
from tpudiag.sources.job.process.isolation import landlock

USERS = [None, STRANGER]


@pytest.fixture(params=USERS, ids=["own", "stranger"])
def where(request: pytest.FixtureRequest) -> Generator[Place, None, None]:
    """A place of whoever runs the tests, and one of a user without any rights."""
    user: int | None = request.param
    if user is not None and (os.getuid() != 0 or not python_of(user)):
        pytest.skip("only root can be another user, who needs a Python that can be read")
    with place(user) as made:
        yield made


@pytest.fixture
def here() -> Generator[Place, None, None]:
    with place() as made:
        yield made


@pytest.mark.slow
def test_what_is_done_over_a_layer_harms_nothing_and_works_as_without(where: Place) -> None:
    with place(where.user) as other:
        make(other)
        raised_in_place = harmed(other, None)
    make(where)
    before = state(where)
    raised = harmed(where, "overlay")
    assert state(where) == before
    # Without rights no folder that lies below can get another name: the system says so, and what
    # is Python's own does it in another way.
    known: set[str] = set()
    if where.user is not None:
        known = {"rename_folder", "rename_folder_into_another"}
    assert {name: text for name, text in raised.items() if name not in known} == raised_in_place
    assert all("cross-device" in raised[name] for name in known)


@pytest.mark.slow
def test_what_is_done_behind_a_wall_harms_nothing(where: Place) -> None:
    make(where)
    before = state(where)
    raised = harmed(where, "landlock")
    assert changed(where, before) == set()
    assert "PermissionError" in raised["open_to_write"]


def test_the_end_of_the_job_is_that_of_the_launcher(here: Place) -> None:
    for isolation in ("overlay", "landlock", "none"):
        done, _ = launched(here, isolation, ["sh", "-c", "echo said; exit 3"])
        assert (done.returncode, done.stdout) == (3, "said\n"), isolation
        done, _ = launched(here, isolation, ["sh", "-c", "kill -USR1 $$"])
        assert done.returncode == -signal.SIGUSR1, isolation


@pytest.mark.parametrize("isolation", ["overlay", "landlock", "none"])
def test_nothing_that_the_job_started_outlives_it(here: Place, isolation: str) -> None:
    read_end, write_end = os.pipe()
    # Each of them holds the pipe open as long as it lives.
    children = "sleep 600 & (setsid sleep 600 &) ; (setsid sh -c 'trap \"\" TERM; sleep 600' &)"
    launched(here, isolation, ["sh", "-c", children], pass_fds=(write_end,), passed=(write_end,))  # type: ignore[arg-type]
    os.close(write_end)
    with os.fdopen(read_end, "rb") as stream:
        assert stream.read() == b""


@pytest.mark.parametrize("isolation", ["overlay", "landlock", "none"])
def test_all_ends_with_the_tool(here: Place, isolation: str) -> None:
    read_end, write_end = os.pipe()
    alive_out, alive_in = os.pipe()
    os.close(alive_in)  # the tool is gone
    done, outcome = launched(
        here,
        isolation,  # type: ignore[arg-type]
        ["sh", "-c", "(setsid sleep 600 &) ; sleep 600"],
        pass_fds=(write_end, alive_out),
        passed=(write_end,),
        lifeline=alive_out,
    )
    os.close(write_end)
    os.close(alive_out)
    with os.fdopen(read_end, "rb") as stream:
        assert stream.read() == b""
    assert done.returncode == -signal.SIGKILL and outcome is None


@pytest.mark.parametrize("isolation", ["overlay", "landlock"])
def test_no_other_process_is_ended(here: Place, isolation: Isolation) -> None:
    if isolation == "landlock" and landlock.version() < 6:
        pytest.skip("this Linux has no means for it: 6.12 does")
    with subprocess.Popen(["sleep", "600"]) as mine:
        done, _ = launched(here, isolation, ["sh", "-c", f"sleep 600 & kill $! && kill {mine.pid}"])
        assert done.returncode == 1 and mine.poll() is None
        mine.kill()


def test_it_is_told_what_was_written(here: Place) -> None:
    for name in ("old.txt", "best.txt", "runs/a.txt", "runs/b.txt"):
        (here.work / name).parent.mkdir(exist_ok=True)
        (here.work / name).write_text("mine")
    kept = here.top / "kept"
    script = "echo new > ckpt-1.index; echo more >> old.txt; mv best.txt last.txt; rm -r runs"
    _, outcome = launched(here, "overlay", ["sh", "-c", script], keep=str(kept))
    assert outcome is not None and outcome.writes is not None
    writes = outcome.writes
    assert (writes.written, writes.checkpoints, writes.removed) == (3, 1, 3)
    assert str(here.work / "runs/a.txt") in writes.names
    left = {p.relative_to(kept).as_posix(): p.read_text() for p in kept.rglob("*") if p.is_file()}
    assert left == {
        "ckpt-1.index": "new\n",
        "old.txt": "minemore\n",
        "last.txt": "mine",
        "removed.txt": "best.txt\nruns/a.txt\nruns/b.txt\n",
    }


def test_a_job_that_takes_the_memory_is_ended(here: Place) -> None:
    done, outcome = launched(here, "overlay", ["sleep", "600"], spare_bytes=2**60)
    assert outcome is not None and "MiB of memory left" in outcome.memory
    assert done.returncode == -signal.SIGKILL


def test_offline_there_is_no_network_but_its_own(here: Place) -> None:
    asked = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
print([name for _, name in socket.if_nameindex() if name == "eth0"])
try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as away:
        away.connect(("192.0.2.1", 9))
except OSError as error:
    print(error.strerror)
"""
    done, _ = launched(here, "overlay", [here.python, "-c", asked], offline=True)
    assert done.stdout == "[]\nNetwork is unreachable\n", done.stderr
