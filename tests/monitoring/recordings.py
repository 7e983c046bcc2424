"""Recordings made of step times, as a recorder would have left them."""

import os
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tpudiag.diagnoses.watch_request import WatchRequest
from tpudiag.diagnoses.watch_session import WatchSession
from tpudiag.monitoring.recording import NS, Run, Window, bucket
from tpudiag.monitoring.store import Store
from tpudiag.monitoring.watched_job import WatchedJob
from tpudiag.settings import Settings


def run(ago_s: float, **changed: Any) -> Run:
    """A run of this process that began so long ago."""
    now = time.time_ns()
    made = Run(
        id="run",
        name="train.py",
        host=os.uname().nodename,
        pid=os.getpid(),
        started_ns=now - int(ago_s * NS),
        beat_ns=now,
        global_batch=64,
    )
    return replace(made, **changed)


def windows(start_ns: int, took_s: Iterable[float], first: int = 0) -> list[Window]:
    """A window for each step."""
    found: list[Window] = []
    for number, took in enumerate(took_s, first):
        end_ns = start_ns + int(took * NS)
        found.append(
            Window(
                number=number,
                start_ns=start_ns,
                end_ns=end_ns,
                steps=1,
                step_ms=((bucket(1e3 * took), 1),),
                examples=64,
            )
        )
        start_ns = end_ns
    return found


def write(path: Path, took_s: list[float], silent_s: float = 0.0, **changed: Any) -> list[Window]:
    """A recording whose last step ended so long ago."""
    made = run(sum(took_s) + silent_s, **changed)
    found = windows(made.started_ns, took_s)
    store = Store(path)
    store.write(made, tuple(found))
    store.close()
    return found


def polled(*sources: Path) -> WatchedJob:
    """The job of recordings, as far as they are written."""
    job = WatchedJob([str(source) for source in sources])
    assert job.poll()
    return job


@contextmanager
def looked(*sources: Path, **request: Any) -> Generator[WatchSession]:
    """A watch that has looked at recordings once."""
    asked = WatchRequest(sources=tuple(map(str, sources)), **request)
    with WatchSession(asked, Settings()) as session:
        assert session.look()
        yield session
