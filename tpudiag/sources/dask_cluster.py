"""A Dask cluster, over whose workers work is spread: profiles to read, steps to compile."""

import asyncio
import concurrent.futures
import logging
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from tpudiag.errors import MissingExtra, UnreadableInput, line_of

KNOCK_S = 5.0
"""How long the scheduler's port may take to answer."""
CONNECT_S = 20.0
WORKERS_S = 30.0
"""How long the cluster may be without a worker."""
LOOK_S = 0.5
"""How often the workers are counted while an answer is waited for."""
RETRIES = 3
CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
FETCH_ENDED = (OSError, UnboundLocalError)
"""What an ended fetch raises: `sync` of `distributed` leaves its result unset then."""
GONE = "the cluster's workers went away"


class Lost(Exception):
    """No worker gave an answer; the text says why, in a line."""


class Cluster:
    """The workers of a scheduler; any thread may ask.

    A task whose worker dies goes to another.
    """

    def __init__(self, option: str, address: str) -> None:
        """At `host:port`; `option` is what the user wrote, for errors.

        Raises UnreadableInput and MissingExtra.
        """
        self._client = connected(option, address)
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._looked = self._seen = time.monotonic()
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_S)
        except (OSError, TimeoutError) as error:
            self.close()
            raise UnreadableInput(f"{option}: the cluster has no worker") from error

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a worker makes of it; raises Lost."""
        try:
            # Pure would name the task by its arguments, and give an earlier failure again.
            task = self._client.submit(function, *arguments, pure=False, retries=RETRIES)
        except Exception as error:  # whatever a version or a closed client may raise
            raise Lost(GONE) from error
        while True:
            try:
                # In short waits, so that `close` is heard.
                return task.result(timeout=LOOK_S)
            except CANCELLED:
                pass  # the fetch that answers share was given up by another thread's short wait
            except Exception as error:  # whatever a worker's version or machine may raise
                failed = task.status == "error" or (
                    # The answer is there and cannot be had: by itself, if the workers still are.
                    task.status == "finished"
                    and not isinstance(error, FETCH_ENDED)
                    and self._is_there()
                )
                if failed:
                    raise Lost(f"no worker could do it: {line_of(error)[:300]}") from error
            if task.cancelled() or self._is_away():
                raise Lost(GONE)

    def workers(self) -> int:
        """How many workers the scheduler knows of; 0 where it is gone."""
        try:
            known = self._client.sync(
                self._client.scheduler.identity, n_workers=-1, callback_timeout=CONNECT_S
            )
        except OSError:  # it died, or says nothing
            return 0
        return len(known["workers"]) if self._client.status == "running" else 0

    @property
    def closed(self) -> bool:
        """Whether `close` was called: answers that came after it are none."""
        return self._closed.is_set()

    def close(self) -> None:
        """Wait for nothing more; safe to call twice."""
        if not self._closed.is_set():
            self._closed.set()
            with suppress(Exception):  # the scheduler may be gone
                self._client.close(timeout=LOOK_S)

    def _is_there(self) -> bool:
        """Whether a worker is seen from now on, at the next look."""
        now = time.monotonic()
        self._closed.wait(LOOK_S)
        return not self._is_away() and self._seen >= now

    def _is_away(self) -> bool:
        """Whether it is closed, or has been without a worker for too long."""
        with self._lock:
            if time.monotonic() - self._looked > LOOK_S:
                there = self.workers() > 0
                self._looked = time.monotonic()
                self._seen = self._looked if there else self._seen
            late = time.monotonic() - self._seen > WORKERS_S
            return late or self.closed or self._client.status != "running"


def connected(option: str, address: str) -> Any:
    """A client of the scheduler at `host:port`; raises UnreadableInput and MissingExtra."""
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise MissingExtra(
            f"{option} needs the extra `dask`: pip install 'tpudiag[dask]'"
        ) from error
    quieten()
    host, _, port = address.rpartition(":")
    try:
        # Knocked first: the client tries a closed port again and again for all of its time.
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_S).close()
        return distributed.Client(f"tcp://{address}", timeout=CONNECT_S)
    except (OSError, OverflowError, TimeoutError, ValueError) as error:
        raise UnreadableInput(f"{option}: no Dask scheduler answers: {line_of(error)}") from error


def quieten() -> None:
    """Keep the package's own log off stderr: failures are in the report."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
