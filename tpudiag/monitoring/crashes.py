"""Tells recorders of an exception that ends the process, and of a fork: neither is their own."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Protocol


class Follower(Protocol):
    """What wants to know."""

    @property
    def closed_at(self) -> int | None:
        """When it was closed (performance counter, ns), None while it is open."""
        ...

    def crashed(self, text: str) -> None:
        """The process ends by this exception."""
        ...

    def forked(self) -> None:
        """This is the child of a fork."""
        ...


_followers: deque[Follower] = deque(maxlen=64)
"""Held: a loop's recorder would be gone before the hook hears of the exception in the loop."""
_installed = False


def follow(recorder: Follower) -> None:
    """Tell this recorder; the interpreter's hooks are chained to once."""
    global _installed  # noqa: PLW0603
    _followers.append(recorder)
    if not _installed:
        _installed = True
        # The interpreter calls it before atexit: the recorder is still open, and its end is the
        # exception's.
        sys.excepthook = _chained(sys.excepthook)
        # Not on Windows.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_forked)


def said(error: BaseException, trace: TracebackType | None) -> str:
    """`ValueError: no data (train.py:12)`, with the innermost line that is the user's own."""
    # In one line and cut: TensorFlow's errors hold whole graphs, and this is a column of each row
    # of the run.
    text = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    own = [f for f in traceback.extract_tb(trace) if not installed_code(f.filename)]
    return f"{text} ({own[-1].filename}:{own[-1].lineno})" if own else text


def installed_code(filename: str) -> bool:
    """Whether a file is of the standard library or of an installed package."""
    places = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    return filename.startswith("<") or any(filename.startswith(f"{place}/") for place in places)


Hook = Callable[[type[BaseException], BaseException, "TracebackType | None"], Any]


def _chained(before: Hook) -> Hook:
    """The hook that was there, after the recorders were told; theirs is never in its way."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        with suppress(Exception):
            text = said(error, trace)
            for recorder in _ended_by_it(list(_followers)):
                with suppress(Exception):
                    recorder.crashed(text)
        return before(kind, error, trace)

    return hook


def _ended_by_it(recorders: list[Follower]) -> list[Follower]:
    """The open ones, or the one that was closed last: those before had ended well."""
    going_on = [recorder for recorder in recorders if recorder.closed_at is None]
    return going_on or sorted(recorders, key=lambda recorder: recorder.closed_at or 0)[-1:]


def _forked() -> None:
    """In the child of a fork."""
    for recorder in list(_followers):
        with suppress(Exception):
            recorder.forked()
