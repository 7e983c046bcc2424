"""Replaces a plain Python function for whoever has already imported it."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from tpudiag.sources.job.tensorflow.points import barrier


def replace(function: Any, stand_in: Callable[..., Any]) -> None:
    """Let every call of a function call `stand_in(original, ...)`; not for one with closures.

    Keras gives the same function under many names; the code itself is what they share.
    """
    if not isinstance(function, types.FunctionType) or function.__closure__:
        return
    original = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    original.__kwdefaults__ = function.__kwdefaults__
    name = f"_tpudiag_{function.__name__}"

    def guarded(*args: Any, **kwargs: Any) -> Any:
        return barrier.guarded(function.__name__, stand_in, original, args, kwargs)

    function.__globals__[name] = guarded
    space: dict[str, Any] = {}
    exec(f"def call(*args, **kwargs):\n    return {name}(*args, **kwargs)", space)
    # `from keras.datasets import mnist` and keras.datasets.mnist.load_data are two names of one
    # function object; whoever imported it before keeps the object, so the object itself is given
    # other code.
    function.__code__ = space["call"].__code__
    function.__kwdefaults__ = None
