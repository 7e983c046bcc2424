"""Reports traces, compilations and checkpoints of TensorFlow and JAX to recorders.

Hooks are set where the job itself imported the framework, as long as a recorder listens; a failure
in reporting does not reach the job.
"""

import functools
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from tpudiag.sources.job.points import hooks, privates, table


class _Listener(Protocol):
    """A recorder, as far as traces and checkpoints concern it; documented there."""

    def traced(self, function: str, start: int, end: int) -> None: ...
    def begin_pause(self, kind: str) -> int: ...
    def end_pause(self, kind: str, start: int) -> None: ...


_KERAS = ("keras", "tf_keras", "tensorflow")


# Weak references: a released recorder must end.
_listeners: weakref.WeakSet[_Listener] = weakref.WeakSet()
_inside = threading.local()


def follow(listener: _Listener) -> None:
    """Report to this recorder as long as it lives."""
    _listeners.add(listener)
    weakref.finalize(listener, _let_go).atexit = False
    if "tensorflow" in sys.modules:
        hooks.span(table.TRACED, _traced)
        hooks.span(table.KEPT, _kept)
        hooks.span(table.RESTORED, _restored)
    if "jax" in sys.modules:
        hooks.quietly(_hear_jax, sys.modules["jax"])


def forget(listener: _Listener) -> None:
    """Stop reporting to it."""
    _listeners.discard(listener)
    _let_go()


def follow_model(model: Any) -> None:
    """Report when this Keras model is saved or loaded, of any Keras."""
    for kind in type(model).__mro__:
        if kind.__module__.partition(".")[0] in _KERAS:
            hooks.span(table.MODEL_KEPT, _kept, kind)
            hooks.span(table.MODEL_RESTORED, _restored, kind)
            return


def _let_go() -> None:
    """Restore TensorFlow once nobody listens."""
    if not list(_listeners):
        for heard in (_traced, _kept, _restored):
            hooks.leave(heard)


def _outermost(begun: Callable[[tuple[Any, ...]], Callable[[], None]]) -> Callable[..., Any]:
    def wrapped(*args: Any, **_: Any) -> Callable[[], None] | None:
        # An asynchronous checkpoint is written beside the steps, and is no pause.
        beside = threading.current_thread() is not threading.main_thread()
        if beside or getattr(_inside, "of", False):
            return None
        ended = begun(args)
        _inside.of = True

        def end() -> None:
            _inside.of = False
            ended()

        return end

    return wrapped


def _tracing(args: tuple[Any, ...]) -> Callable[[], None]:
    """A function is being traced: its options come last."""
    start = time.perf_counter_ns()
    function = getattr(args[-1], "python_function", None) if args else None
    name = str(getattr(function, "__name__", None) or getattr(args[-1], "name", "a function"))

    def ended() -> None:
        end = time.perf_counter_ns()
        for listener in list(_listeners):
            listener.traced(name, start, end)

    return ended


@functools.cache
def _hear_jax(jax: Any) -> None:
    """Register with JAX, once and permanently: its older releases cannot remove a listener."""
    jax.monitoring.register_event_duration_secs_listener(_compiled)


def _compiled(event: str, seconds: float, **named: object) -> None:
    """JAX compiled a program; it took so long until now."""
    if event != privates.JAX_COMPILED or threading.current_thread() is not threading.main_thread():
        return
    end = time.perf_counter_ns()
    name, start = str(named.get("fun_name", "JAX")), end - round(seconds * 1e9)
    for listener in list(_listeners):
        hooks.quietly(listener.traced, name, start, end)


def _pause(kind: str, _: tuple[Any, ...]) -> Callable[[], None]:
    """A checkpoint is being saved or loaded."""
    starts = [(listener, listener.begin_pause(kind)) for listener in list(_listeners)]

    def ended() -> None:
        for listener, start in starts:
            listener.end_pause(kind, start)

    return ended


_traced = _outermost(_tracing)
_kept = _outermost(functools.partial(_pause, "checkpoint"))
_restored = _outermost(functools.partial(_pause, "restore"))
