"""The summaries of a run's files, made by the workers of a Dask cluster.

The map of `run_reader.here`, run elsewhere. Each worker opens the files by the names given here:
they lie on shared storage or behind a URL. A file whose worker dies is given to another worker.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from tpudiag.errors import UnreadableInput
from tpudiag.sources import dask_cluster
from tpudiag.sources.profile.host_summary import attempted
from tpudiag.sources.profile.run_reader import Answer

SCHEME = "dask://"
WORKERS_S = 30.0
"""How long the cluster may be without a worker."""
LOOK_S = 2.0
"""How often the workers are counted while none has an answer."""
RETRIES = 3
GATHERED = 16
"""Answers fetched at a time."""


class Lost(str):
    """Why no worker could read a file."""

    __slots__ = ()


class Cluster:
    """The map on a cluster; its workers must be able to read the files."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._address = engine.removeprefix(SCHEME)

    def __call__(
        self, files: Sequence[str], span: str | None = None
    ) -> Iterator[tuple[int, Answer]]:
        """The summaries, as they come back; raises UnreadableInput where no cluster answers.

        Where all workers die and none comes back, or the scheduler dies, the files without an
        answer count as unread.
        """
        distributed = dask_cluster.package(f"--engine {SCHEME}")
        with dask_cluster.connected(self._engine, self._address) as client:
            try:
                client.wait_for_workers(1, timeout=WORKERS_S)
            except (OSError, TimeoutError) as error:
                raise UnreadableInput(f"{self._engine}: the cluster has no worker") from error
            tasks = client.map(
                partial(attempted, span=span), list(files), pure=False, retries=RETRIES
            )
            places = {task: place for place, task in enumerate(tasks)}
            for task, answer in _answers(distributed, client, tasks):
                place = places.pop(task)
                yield place, f"{files[place]}: {answer}" if isinstance(answer, Lost) else answer
            for place in places.values():
                yield place, f"{files[place]}: the cluster's workers went away"


def _answers(
    distributed: Any, client: Any, tasks: Sequence[Any]
) -> Iterator[tuple[Any, Answer | Lost]]:
    """The tasks' results; stops where the cluster stays without a worker, or goes away."""
    left = set(tasks)
    seen = time.monotonic()
    while left and not any(task.cancelled() for task in left):
        done: set[Any] = set()
        with suppress(TimeoutError, distributed.CancelledError):
            done = distributed.wait(left, timeout=LOOK_S, return_when="FIRST_COMPLETED").done
        with ThreadPoolExecutor(GATHERED) as pool:  # a busy worker is slow to send
            pairs = list(zip(done, pool.map(_answer, done), strict=True))
        alive = _has_workers(client)
        finished = [(task, answer) for task, answer in pairs if _stands(task, answer, alive)]
        if finished or alive:
            seen = time.monotonic()
        elif client.status != "running" or time.monotonic() - seen > WORKERS_S:
            return
        left.difference_update(task for task, _ in finished)
        yield from ((task, answer) for task, answer in finished if answer is not None)


def _stands(task: Any, answer: Answer | Lost | None, alive: bool) -> bool:
    """Whether to stop asking: a failed fetch says nothing of the file where the cluster is gone."""
    return answer is not None and (alive or task.status == "error" or not isinstance(answer, Lost))


def _has_workers(client: Any) -> bool:
    """Whether the scheduler answers, and has a worker."""
    try:
        known = client.sync(client.scheduler.identity, n_workers=1, callback_timeout=LOOK_S)
    except OSError:  # it died, or says nothing
        return False
    return client.status == "running" and bool(known["workers"])


def _answer(task: Any) -> Answer | Lost | None:
    """A task's result; None where the machine that holds it is out of reach."""
    try:
        answer: Answer = task.result(timeout=LOOK_S)
    except Exception as error:  # whatever a worker's version or machine may raise
        if task.cancelled() or (task.status != "error" and isinstance(error, OSError)):
            return None
        return Lost(f"no worker could read it: {dask_cluster.line(error)}")
    return answer
