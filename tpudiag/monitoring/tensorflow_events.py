"""Tells recorders what TensorFlow does between steps: functions traced, checkpoints kept.

One entry each is wrapped, once, where the job has imported TensorFlow by itself. A wrapper
calls what was there and tells afterwards; what fails in telling is ours alone.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol

TRACING = "tensorflow.python.eager.polymorphic_function.tracing_compilation"
CHECKPOINTS = "tensorflow.python.checkpoint.checkpoint"
KEEPERS = (
    (CHECKPOINTS, "Checkpoint"),
    (CHECKPOINTS, "CheckpointV1"),
    ("tensorflow.python.checkpoint.checkpoint_management", "CheckpointManager"),
)
SAVES = ("save", "write")
RESTORES = ("restore", "read", "restore_or_initialize")
MODEL_SAVES = ("save", "save_weights")
MODEL_RESTORES = ("load_weights",)


class Listener(Protocol):
    """What wants to know; times are the performance counter's, in ns."""

    def traced(self, function: str, start: int, end: int) -> None:
        """A function was traced."""
        ...

    def begin_pause(self, kind: str) -> int:
        """A pause begins: its start."""
        ...

    def end_pause(self, kind: str, start: int) -> None:
        """It ends."""
        ...


# Weakly, for the hooks last as long as TensorFlow, and a recorder that was let go of is to end.
_listeners: weakref.WeakSet[Any] = weakref.WeakSet()
_installed = False
_inside = threading.local()
_wrapped_methods: set[tuple[type, str]] = set()


def follow(listener: Listener) -> None:
    """Tell this recorder from now on, for as long as it lives."""
    _listeners.add(listener)
    _install()


def forget(listener: Listener) -> None:
    """Tell it no more."""
    _listeners.discard(listener)


def follow_model(model: Any) -> None:
    """Tell when this Keras model is kept or read, whatever Keras it is of."""
    for kind in type(model).__mro__:
        if kind.__module__.partition(".")[0] in ("keras", "tf_keras", "tensorflow"):
            _follow_methods(kind, MODEL_SAVES, "checkpoint")
            _follow_methods(kind, MODEL_RESTORES, "restore")


def _install() -> None:
    """Wrap TensorFlow's entries, where it is there and they are where they are known to be."""
    global _installed  # noqa: PLW0603
    if _installed or "tensorflow" not in sys.modules:
        return
    _installed = True
    with suppress(Exception):
        module: Any = import_module(TRACING)
        module._create_concrete_function = _wrapped(module._create_concrete_function, _tracing)
    for module_name, name in KEEPERS:
        with suppress(Exception):
            kept: type = getattr(import_module(module_name), name)
            _follow_methods(kept, SAVES, "checkpoint")
            _follow_methods(kept, RESTORES, "restore")


def _follow_methods(kind: type, methods: tuple[str, ...], pause: str) -> None:
    """Tell when a method that the class itself has is called; each is wrapped once."""
    for method in methods:
        if method in vars(kind) and (kind, method) not in _wrapped_methods:
            _wrapped_methods.add((kind, method))
            original = getattr(kind, method)
            setattr(kind, method, _wrapped(original, functools.partial(_pause, pause)))


def _wrapped(original: Callable[..., Any], begun: Callable[[tuple[Any, ...]], Any]) -> Any:
    """The function, telling before and after; of calls within calls only the outermost."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        # An asynchronous checkpoint is written beside the steps: it holds nobody up, and is no
        # pause.
        if threading.current_thread() is not threading.main_thread() or getattr(
            _inside, "of", None
        ):
            return original(*args, **kwargs)
        ended = None
        _inside.of = True
        try:
            with suppress(Exception):
                ended = begun(args)
            return original(*args, **kwargs)
        finally:
            _inside.of = False
            with suppress(Exception):
                if ended is not None:
                    ended()

    with suppress(Exception):
        # TensorFlow leaves its own frames out of the job's tracebacks: this one goes with them.
        inner: Any = call
        inner.__code__ = inner.__code__.replace(co_filename=original.__code__.co_filename)
    return call


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


def _pause(kind: str, args: tuple[Any, ...]) -> Callable[[], None]:  # noqa: ARG001
    """A checkpoint is being kept, or read."""
    starts = [(listener, listener.begin_pause(kind)) for listener in list(_listeners)]

    def ended() -> None:
        for listener, start in starts:
            listener.end_pause(kind, start)

    return ended
