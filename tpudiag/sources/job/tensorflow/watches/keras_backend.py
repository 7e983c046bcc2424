"""Keras 3 on another framework, whose training is not TensorFlow's."""

import os

from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.process.protocol import Recorder


def name_of(keras: Library) -> str:
    """The framework that a Keras uses."""
    backend = getattr(getattr(keras, "backend", None), "backend", None)
    return str(backend()) if callable(backend) else "tensorflow"


def not_compiled(model: object) -> tuple[str, ...]:
    """The kinds of a model's layers that make Keras compile no step of it."""
    own = () if getattr(model, "supports_jit", True) else (type(model).__name__,)
    within = (kind for layer in getattr(model, "layers", ()) for kind in not_compiled(layer))
    return tuple(dict.fromkeys((*own, *within)))


def watch(keras: Library, recorder: Recorder) -> None:
    """End the job at its first fit where that would train with PyTorch, which is not supported."""
    name = name_of(keras)
    if name in ("tensorflow", "jax"):
        return

    def fit(*_: object, **__: object) -> None:
        recorder.put(keras_backend=str(name))
        # Not sys.exit: a script may catch SystemExit, and JAX would spend minutes compiling for a
        # CPU.
        os._exit(0)

    hooks.around(table.FIT, fit, keras)


def drawn(recorder: Recorder, original: Call, *args: object, **kwargs: object) -> object:
    """A drawing of a model, or none."""
    try:
        return original(*args, **kwargs)
    except (ImportError, AttributeError, OSError) as error:  # Graphviz, or another pydot
        said = f"{user_lines.caller()} ({type(error).__name__}: {str(error).splitlines()[0]})"
        recorder.put(not_drawn=(said,))
        return None
