"""Keras 3 on another framework, whose training is not TensorFlow's."""

import os

from tpudiag.sources.job.points import Library, hooks, table
from tpudiag.sources.job.process.protocol import Recorder


def name_of(keras: Library) -> str:
    """The framework that a Keras uses."""
    backend = getattr(getattr(keras, "backend", None), "backend", None)
    return str(backend()) if callable(backend) else "tensorflow"


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
