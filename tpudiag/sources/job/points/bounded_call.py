"""Calls into the job's data that may fail or never come back."""

import threading
from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")


def within(limit_s: float, call: Callable[[], _Result | None]) -> _Result | None:
    """What a call gives, made beside the caller; None where it fails or takes longer."""
    results: list[_Result | None] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception:
            return  # a pipeline that cannot be read again is no fault of the job

    # A pipeline may read from a pipe, a socket or a bucket: it may never come back. The thread is
    # left behind then, and as a daemon keeps no process from ending.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    return results[0] if results else None
