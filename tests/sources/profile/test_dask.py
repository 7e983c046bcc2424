"""The map on a real cluster: a scheduler and two workers as processes, one killed on the way."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from tests.commands.called import refused, started, told
from tests.loopback import free_port
from tests.sources.profile import spaces
from tpudiag.sources import dask_cluster
from tpudiag.sources.profile import engines

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
HOSTS = 12


class Cluster:
    """A scheduler and its workers on loopback."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.port = free_port()
        self.scheduler = self._start("distributed.cli.dask_scheduler", "--port", str(self.port))
        address = f"tcp://127.0.0.1:{self.port}"
        self.workers = [
            self._start("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny")
            for _ in range(2)
        ]

    def wait(self) -> None:
        """Until both workers are there."""
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        with distributed().Client(f"tcp://127.0.0.1:{self.port}") as client:
            client.wait_for_workers(len(self.workers), timeout=800)

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, *arguments, "--no-dashboard"]
        process = self._stack.enter_context(
            subprocess.Popen(command, stdout=-3, stderr=-3, cwd=ROOT)
        )
        self._stack.callback(process.kill)
        return process


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    if find_spec("distributed") is None:
        pytest.skip("the extra `dask` is not installed")
    with ExitStack() as stack:
        made = Cluster(stack)
        made.wait()
        yield made


def distributed() -> Any:
    return import_module("distributed")


def write(folder: Path, steps: int) -> None:
    """The same trace on every host."""
    made = spaces.pod_host("", steps=steps)
    for number in range(HOSTS):
        made.hostnames[:] = [f"host_{number}"]
        spaces.write(made, folder, host=f"host_{number}")


def arguments(folder: Path, engine: str) -> list[str]:
    return ["read", str(folder), "--engine", engine, "--xprof-limit", "0", "--format", "json"]


def ran(folder: Path, engine: str) -> subprocess.CompletedProcess[str]:
    return started(*arguments(folder, engine), cwd=ROOT)


def answer(folder: Path, engine: str, code: int = 0) -> dict[str, Any]:
    found = told(ran(folder, engine), code)
    return {key: value for key, value in found.items() if key != "started"}


def test_the_cluster_says_what_this_process_says(tmp_path: Path, cluster: Cluster) -> None:
    write(tmp_path, 12)
    (next(tmp_path.rglob("host_3.xplane.pb"))).write_bytes(b"broken")
    engine = f"dask://127.0.0.1:{cluster.port}"
    assert answer(tmp_path, engine, 1) == answer(tmp_path, "local", 1)


def test_a_worker_killed_on_the_way_costs_no_host(tmp_path: Path, cluster: Cluster) -> None:
    write(tmp_path, 12)
    with under_way(tmp_path, cluster) as read:
        cluster.workers[0].kill()
        out, err = read.communicate(timeout=800)
    assert read.returncode == 0, err
    assert json.loads(out)["measurements"]["hosts"]["value"] == HOSTS


def test_a_cluster_that_dies_leaves_what_was_read(tmp_path: Path, cluster: Cluster) -> None:
    write(tmp_path, 12)
    with under_way(tmp_path, cluster) as read:
        cluster.scheduler.kill()
        out, err = read.communicate(timeout=800)
    assert read.returncode in (1, 2), "some hosts were read, or none"
    assert "the cluster's workers went away" in err
    assert "Traceback" not in err
    said = [line for line in err.splitlines() if not line.startswith("tpudiag: reading ")]
    assert len(said) == 1
    assert bool(out) == (read.returncode == 1)


def test_workers_that_do_not_come_back(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 12)
    cluster.workers[0].send_signal(signal.SIGSTOP)  # what it was given stays open
    monkeypatch.setattr(dask_cluster, "WORKERS_S", 20.0)
    files = [str(file) for file in sorted(tmp_path.rglob("*.xplane.pb"))]
    answering = engines.engine(f"dask://127.0.0.1:{cluster.port}")(files, None)
    places = {next(answering)[0]}
    monkeypatch.setattr(dask_cluster, "WORKERS_S", 1.0)
    for worker in cluster.workers:
        worker.kill()
    rest = dict(answering)
    places |= rest.keys()
    assert places == set(range(HOSTS)), "every file has an answer"
    assert any("workers went away" in answer for answer in rest.values() if isinstance(answer, str))


@pytest.mark.parametrize("dies", [True, False])
def test_answers_that_went_with_the_scheduler(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    monkeypatch.setattr(dask_cluster, "WORKERS_S", 5.0)
    write(tmp_path, 30)
    files = [str(file) for file in sorted(tmp_path.rglob("*.xplane.pb"))] * 3
    answering = engines.engine(f"dask://127.0.0.1:{cluster.port}")(files, None)
    places = {next(answering)[0]}
    with distributed().Client(f"tcp://127.0.0.1:{cluster.port}") as client:
        while any(client.processing().values()):
            time.sleep(0.05)
    cluster.scheduler.send_signal(signal.SIGSTOP)
    if dies:
        Timer(0.5, cluster.scheduler.kill).start()  # while it is asked for the answers
    rest = dict(answering)
    assert places | rest.keys() == set(range(len(files))), "every file has an answer"
    said = {answer for answer in rest.values() if isinstance(answer, str)}
    assert not [answer for answer in said if "workers went away" not in answer]


@contextmanager
def under_way(folder: Path, cluster: Cluster) -> Generator[subprocess.Popen[str]]:
    """A read that cannot end by itself: the first worker was given files, and stands still."""
    stopped = cluster.workers[0]
    stopped.send_signal(signal.SIGSTOP)
    asked = arguments(folder, f"dask://127.0.0.1:{cluster.port}")
    command = [sys.executable, "-m", "tpudiag", *asked]
    with (
        subprocess.Popen(command, stdout=-1, stderr=-1, text=True, cwd=ROOT) as read,
        distributed().Client(f"tcp://127.0.0.1:{cluster.port}") as client,
    ):
        while not any(client.processing().values()) and read.poll() is None:
            time.sleep(0.05)
        assert read.poll() is None, read.communicate()
        yield read


def test_no_scheduler_is_one_line(tmp_path: Path) -> None:
    if find_spec("distributed") is None:
        pytest.skip("the extra `dask` is not installed")
    spaces.write(spaces.pod_host("a"), tmp_path)
    engine = f"dask://127.0.0.1:{free_port()}"
    assert engine in refused(ran(tmp_path, engine))


def test_without_the_extra_the_line_names_it(tmp_path: Path) -> None:
    spaces.write(spaces.pod_host("a"), tmp_path)
    if find_spec("distributed") is not None:
        pytest.skip("the extra `dask` is installed")
    assert "tpudiag[dask]" in refused(ran(tmp_path, "dask://127.0.0.1:1"))
