"""Keras 3 on another framework: its training is not TensorFlow's, and is not watched."""

from __future__ import annotations

import os
from typing import Any

from tpudiag.sources.job.process.protocol import Recorder
from tpudiag.sources.job.tensorflow.points import hooks, table


def watch(keras: Any, recorder: Recorder) -> None:
    """End the job at its first fit, where that would train with JAX or PyTorch."""
    backend = getattr(getattr(keras, "backend", None), "backend", None)
    name = backend() if callable(backend) else "tensorflow"
    if name == "tensorflow":
        return

    def fit(*_: Any, **__: Any) -> None:
        recorder.put(keras_backend=str(name))
        # Not sys.exit: a script may catch SystemExit, and JAX would go on to compile for a CPU for
        # minutes.
        os._exit(0)

    hooks.around(table.FIT, fit, keras)
