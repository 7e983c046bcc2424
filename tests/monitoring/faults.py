"""Faults in real trainers: they run, something goes wrong, and its cause is investigated."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

from tpudiag.monitoring.causes.investigation import Investigator
from tpudiag.monitoring.follower import Episode, Watched
from tpudiag.monitoring.watched_job import WatchedJob
from tpudiag.signals.causes import Cause

TRAINER = Path(__file__).with_name("faulty_trainer.py")


@dataclass(frozen=True)
class Asked:
    """What was found: the cause by worker, where it stood, and how long it took to find."""

    causes: dict[int, tuple[Cause | None, str]]
    took_s: float
    slower: float
    """How many times slower than before."""


class Barrier:
    """Lets workers go on when all have come: an all-reduce of nothing."""

    def __init__(self, workers: int) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._serve, args=(workers,), daemon=True).start()

    def _serve(self, workers: int) -> None:
        connections = [self._server.accept()[0] for _ in range(workers)]
        with contextlib.suppress(OSError):
            while all(connection.recv(1) for connection in connections):
                for connection in connections:
                    connection.sendall(b"x")


@contextlib.contextmanager
def trainers(
    folder: Path, fault: str, workers: int = 1
) -> Generator[list[subprocess.Popen[bytes]]]:
    """Trainers that run until the end of the block."""
    barrier = Barrier(workers) if workers > 1 else None
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}
    commands = [
        [sys.executable, str(TRAINER), str(folder), fault]
        + ([str(number), str(barrier.port)] if barrier else [])
        for number in range(workers)
    ]
    root = str(Path(__file__).parents[2])
    processes = [
        subprocess.Popen(command, env={**environment, "PYTHONPATH": root}) for command in commands
    ]
    try:
        yield processes
    finally:
        (folder / "stop").touch()
        for process in processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


class MemoryGroup:
    """A control group of a process, whose memory can be made short without harm to others."""

    def __init__(self) -> None:
        first = Path("/sys/fs/cgroup/memory")
        self._folder = (first if first.is_dir() else first.parent) / f"tpudiag-bench-{os.getpid()}"
        self._limit = "memory.limit_in_bytes" if first.is_dir() else "memory.max"
        self._used = "memory.usage_in_bytes" if first.is_dir() else "memory.current"

    def __enter__(self) -> MemoryGroup:
        self._folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    def take(self, process: subprocess.Popen[bytes]) -> None:
        """What it allocates from now on counts."""
        (self._folder / "cgroup.procs").write_text(str(process.pid), encoding="ascii")

    def shrink(self, by_bytes: int) -> None:
        """Less than is in use."""
        used = int((self._folder / self._used).read_text(encoding="ascii"))
        for _ in range(20):
            with contextlib.suppress(OSError):
                (self._folder / self._limit).write_text(str(used - by_bytes), encoding="ascii")
                return
            time.sleep(0.1)


def followed(job: WatchedJob, investigator: Investigator, seconds: float) -> None:
    """Look at the job for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job.poll()
        investigator.sample(job.workers)
        time.sleep(0.5)


def asked(
    folder: Path,
    fault: str,
    *,
    workers: int = 1,
    begin: Callable[[list[subprocess.Popen[bytes]]], None] | None = None,
    started: Callable[[list[subprocess.Popen[bytes]]], None] | None = None,
    before_s: float = 20.0,
    since_s: float = 13.0,
) -> Asked:
    """Let a fault happen, and ask for its cause."""
    with trainers(folder, fault, workers) as processes:
        if started is not None:
            started(processes)
        job, investigator = WatchedJob([str(folder)]), Investigator()
        while not job.poll() or len(job.workers) < workers or not all_step(job.workers):
            assert all(process.poll() is None for process in processes)
            time.sleep(0.2)
        followed(job, investigator, before_s)
        since_ns = job.workers[0].now_ns()
        rates = [steps_per_s(watched, 0, since_ns) for watched in job.workers]
        (folder / "go").touch()
        if begin is not None:
            begin(processes)
        followed(job, investigator, since_s)
        now = [steps_per_s(watched, since_ns + 2 * 10**9) for watched in job.workers]
        slower = max(was / max(rate, 1e-9) for was, rate in zip(rates, now, strict=True))
        stalled = fault == "stop"
        lost = 1.0 if stalled else max(1 - 1 / slower, 0.0)
        episodes = {place: Episode(since_ns, lost, stalled) for place in range(workers)}
        asked_s = time.monotonic()
        causes = investigator.causes(job.workers, episodes)
        return Asked(causes, time.monotonic() - asked_s, slower)


def all_step(workers: list[Watched]) -> bool:
    """Whether all are past their first steps."""
    return all(watched.steps > 20 for watched in workers)


def steps_per_s(watched: Watched, from_ns: int, to_ns: int = 2**63) -> float:
    """Steps a second of the windows between two times."""
    found = [w for w in watched.history if w.number and from_ns <= w.start_ns and w.end_ns <= to_ns]
    return sum(w.steps for w in found) / sum((w.active_s for w in found), 1e-9)


@contextlib.contextmanager
def busy_host(processes: int) -> Generator[None]:
    """Others that take the cores."""
    spin = "while True: pass"
    others = [subprocess.Popen([sys.executable, "-S", "-c", spin]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def space(folder: Path) -> Path:
    """An empty folder, but for data to be read."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with (folder / "data").open("wb") as stream:
        stream.write(os.urandom(2**20) * 64)
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return folder
