"""Tells recorders how the process ends, and of a fork.

Hooked are an exception that nobody caught, in the main thread or the loop's, and the exit code
that the script chose by `sys.exit`, `exit` or SystemExit in the loop.
"""

import atexit
import gc
import os
import sys
import sysconfig
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Protocol

from tpudiag.sources.job.points import hooks, table


class _Follower(Protocol):
    """A recorder, as far as the process's end and forks concern it."""

    thread: int
    closed_at: int | None

    def ends(self, failure: str | None, exit_code: int | None = None) -> None: ...
    def forks(self) -> None: ...
    def has_forked(self) -> None: ...
    def forked(self) -> None: ...


_followers: deque[_Follower] = deque(maxlen=64)
"""Strong references: a loop's recorder would be gone before the hook sees the loop's exception."""
_installed = False
MOST_LOOK_S, _looked_s = 0.05, 0.0
"""Limits the search among millions of objects, since a loop may be left early in each epoch."""


def follow(recorder: _Follower) -> None:
    """Register this recorder; the interpreter's hooks are installed once."""
    global _installed  # noqa: PLW0603
    _followers.append(recorder)
    if _installed:
        return
    _installed = True
    atexit.register(_leave)
    # Called before atexit: the recorder is still open, and ends by the exception.
    hooks.span(table.UNCAUGHT, _uncaught)
    hooks.span(table.UNCAUGHT_IN_THREAD, _uncaught_in_thread)
    hooks.span(table.EXITED, _exits)
    hooks.span(table.QUIT, _quits)
    # Missing on Windows.
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lambda: _each(lambda one: one.forks()),
            after_in_parent=lambda: _each(lambda one: one.has_forked()),
            after_in_child=lambda: _each(lambda one: one.forked()),
        )


def error_line(error: BaseException, trace: TracebackType | None) -> str:
    """`ValueError: no data (train.py:12)`, with the innermost line of the user's own code."""
    # One line, cut: TensorFlow's errors hold whole graphs, and this is a column of every row.
    text = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    own = [f for f in traceback.extract_tb(trace) if not installed_code(f.filename)]
    return f"{text} ({own[-1].filename}:{own[-1].lineno})" if own else text


def installed_code(filename: str) -> bool:
    """Whether a file belongs to the standard library or an installed package."""
    places = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    return filename.startswith("<") or any(filename.startswith(f"{place}/") for place in places)


def left_by_exit(recorder: _Follower) -> None:
    """The loop was left early: report it where a SystemExit caused that."""
    global _looked_s  # noqa: PLW0603
    with suppress(Exception):
        # While the stack unwinds the exception is visible only to the garbage collector, mostly
        # among its youngest objects.
        for generation in (0, 1, 2) if _looked_s < MOST_LOOK_S else (0, 1):
            begun_s = time.perf_counter()
            objects = gc.get_objects(generation=generation)
            leaving = next((one for one in objects if type(one) is SystemExit), None)
            _looked_s = time.perf_counter() - begun_s
            if leaving is not None:
                code, text = _code(leaving.code)
                if code:
                    recorder.ends(text, code)
                return


def _leave() -> None:
    """Python ends: stop notifying."""
    for heard in (_uncaught, _uncaught_in_thread, _exits, _quits):
        hooks.leave(heard)


def _uncaught(_: object, error: BaseException, trace: TracebackType | None) -> None:
    _tell(_ended_by_it(), lambda: (error_line(error, trace), None))


def _uncaught_in_thread(args: Any) -> None:
    """An uncaught exception in a thread: it ends the run whose steps that thread makes."""
    own = [one for one in list(_followers) if one.thread == threading.get_ident()]
    # An exit in a thread ends that thread alone, and triggers no hook.
    _tell(own[-1:], lambda: (error_line(args.exc_value, args.exc_traceback), None))


def _quits(_: object, code: Any = None) -> None:
    _exits(code)


def _exits(status: Any = None) -> None:
    with suppress(Exception):
        if threading.current_thread() is not threading.main_thread():
            return  # ends the thread alone
        code, text = _code(status)
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, SystemExit):
            text = error_line(error, error.__traceback__)
        if code:
            _tell(_ended_by_it(), lambda: (text, code))


def _code(status: Any) -> tuple[int, str | None]:
    """Python's exit code for a status, and the text that it prints."""
    if status is None or isinstance(status, int):
        return int(status or 0) & 0xFF, None
    return 1, " ".join(str(status).split())[:500]


def _tell(recorders: list[_Follower], end: Callable[[], tuple[str | None, int | None]]) -> None:
    """Notify recorders; no failure here reaches the job."""
    with suppress(Exception):
        failure, code = end()
        for recorder in recorders:
            with suppress(Exception):
                recorder.ends(failure, code)


def _ended_by_it() -> list[_Follower]:
    """The open recorders, or the one closed last: earlier ones had ended well."""
    recorders = list(_followers)
    going_on = [recorder for recorder in recorders if recorder.closed_at is None]
    return going_on or sorted(recorders, key=lambda recorder: recorder.closed_at or 0)[-1:]


def _each(do: Callable[[_Follower], None]) -> None:
    for recorder in list(_followers):
        with suppress(Exception):
            do(recorder)
