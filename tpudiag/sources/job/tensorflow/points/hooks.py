"""The one way in which hooks are put on public methods and functions."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

from tpudiag.sources.job.tensorflow.points import barrier


def around(
    owner: Any, name: str, call: Callable[..., Any], sends: barrier.Sends | None = None
) -> None:
    """Put `call(original, *args, **kwargs)` in the place of a callable of `owner`.

    It looks as the original did: Keras reads the signatures of constructors, and AutoGraph leaves
    TensorFlow's own modules alone. What fails in `call` and not in the original is ours alone: the
    original is called then, unless it `sends`.
    """
    original = getattr(owner, name)
    hook = f"{getattr(owner, '__name__', type(owner).__name__)}.{name}"

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return barrier.guarded(hook, call, original, args, kwargs, sends)

    # C functions and some generated ones have no signature; they work without.
    with contextlib.suppress(TypeError, ValueError):
        vars(wrapped)["__signature__"] = inspect.signature(original)
    setattr(owner, name, wrapped)


def always(_args: Any, _kwargs: Any) -> bool:
    """Of a call that sends whatever it is given."""
    return True


def definer(class_: Any, name: str) -> Any:
    """The class that a method is inherited from.

    A hook is put there where a library compares the two: Keras does not compile a model that it
    loads where `type(model).compile` is not the one of its trainer.
    """
    return next(each for each in class_.__mro__ if name in vars(each))


def quietly(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a call of ours gives; None where it fails, which is noted as our defect."""
    return barrier.attempt(getattr(call, "__qualname__", "hook"), call, *args, **kwargs)


def before(owner: Any, name: str, note: Callable[..., None]) -> None:
    """Call `note` with a callable's arguments before each call of it."""

    def call(original: Any, *args: Any, **kwargs: Any) -> Any:
        note(*args, **kwargs)
        return original(*args, **kwargs)

    around(owner, name, call)


def after(owner: Any, name: str, note: Callable[..., None]) -> None:
    """Call `note` with a callable's arguments after each call of it that returned."""

    def call(original: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        note(*args, **kwargs)
        return result

    around(owner, name, call)
