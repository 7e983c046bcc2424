"""The summaries of a run's files, made by the workers of a Dask cluster.

The same map as in this process. Each worker opens the files by the names given here: they lie
on storage that all share, or behind a URL. A file whose worker dies is given to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from tpudiag.errors import MissingExtra, UnreadableInput
from tpudiag.sources.profile.reading import Answer
from tpudiag.sources.profile.summaries import attempted

SCHEME = "dask://"
CONNECT_S = 20.0
WORKERS_S = 60.0
"""How long the first worker may take to appear."""


class Cluster:
    """The map on a cluster; `files` are read where its workers run."""

    def __init__(self, engine: str) -> None:
        self._address = engine.removeprefix(SCHEME)

    def __call__(self, files: Sequence[str]) -> Iterator[tuple[int, Answer]]:
        """The summaries, as they come back; raises UnreadableInput where no cluster answers."""
        distributed = _distributed()
        try:
            client = distributed.Client(f"tcp://{self._address}", timeout=CONNECT_S)
        except (OSError, TimeoutError) as error:
            raise UnreadableInput(f"--engine {SCHEME}{self._address}: {_line(error)}") from error
        with client:
            try:
                client.wait_for_workers(1, timeout=WORKERS_S)
            except (OSError, TimeoutError) as error:
                raise UnreadableInput(
                    f"--engine {SCHEME}{self._address}: the cluster has no worker"
                ) from error
            tasks = client.map(attempted, list(files), pure=False, retries=3)
            places = {task.key: place for place, task in enumerate(tasks)}
            for task in distributed.as_completed(tasks):
                yield places[task.key], _answer(task, files[places[task.key]])


def _answer(task: Any, file: str) -> Answer:
    """What a task came to; a worker's own failure counts against its file."""
    try:
        answer: Answer = task.result()
    except Exception as error:  # whatever a worker's version or machine may raise
        return f"{file}: no worker could read it: {_line(error)}"
    return answer


def _distributed() -> Any:
    """The package, which the extra `dask` brings; raises MissingExtra."""
    try:
        return import_module("distributed")
    except ImportError as error:
        raise MissingExtra(
            "--engine dask:// needs the extra `dask`: pip install 'tpudiag[dask]'"
        ) from error


def _line(error: BaseException) -> str:
    """An error as one line."""
    return " ".join(str(error).split()) or type(error).__name__
