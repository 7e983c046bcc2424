"""Calls into the job's data that may fail or never return."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_Result = TypeVar("_Result")


def within(limit_s: float, call: Callable[[], _Result | None]) -> _Result | None:
    """A call's result, computed in a thread; None where it fails or takes longer."""
    results: list[_Result | None] = []

    def run() -> None:
        with suppress(Exception):  # a pipeline that cannot be read again is no fault of the job
            results.append(call())

    # A pipeline may read from a pipe, socket or bucket and never return. Its thread is abandoned
    # then; as a daemon it does not block the process's end.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    return results[0] if results else None
