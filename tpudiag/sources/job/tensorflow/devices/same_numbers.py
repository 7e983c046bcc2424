"""Equal random numbers in each run, and their results, so that two runs can be compared."""

import contextlib
import itertools
import random
import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

from tpudiag.signals.training_loop import TrainedNumbers
from tpudiag.sources.job.points import Call, Library, hooks, table

MOST_VARIABLES = 2000


def seed_python(seed: int) -> None:
    """Seed Python's and NumPy's generators, before the program runs."""
    random.seed(seed)
    with contextlib.suppress(ImportError):
        import numpy as np

        np.random.seed(seed)
        hooks.around(table.NUMPY_GENERATOR, partial(_reproducible, itertools.count(seed)))


def _reproducible(drawn: Iterator[int], default_rng: Call, seed: object = None) -> object:
    """NumPy's `default_rng`, which without a seed would use the system's entropy.

    The argument has NumPy's own name, which scripts use.
    """
    return default_rng(next(drawn) if seed is None else seed)


class SameNumbers:
    """Seeds TensorFlow, and records the losses of steps and the trained variables."""

    def __init__(self, tf: Library, seed: int) -> None:
        self._tf = tf
        self._losses: list[float] = []
        self._trained: list[weakref.ref[object]] = []
        tf.random.set_seed(seed)

    def made(self, variable: object) -> None:
        """A trained variable was made."""
        if len(self._trained) < MOST_VARIABLES:
            self._trained.append(weakref.ref(variable))

    def step_done(self, result: Any) -> None:
        """A training step returned: record its loss, or the mean of its floating scalars."""
        values: list[float] = []
        if hasattr(result, "get_value"):  # an Optional, as from Keras 3 for data that ends
            result = result.get_value() if bool(result.has_value()) else None
        # Of named results the loss; all of them where none has that name.
        named = hasattr(result, "keys") and "loss" in result
        given = result["loss"] if named else result
        for tensor in self._tf.nest.flatten(given, expand_composites=True):
            dtype = getattr(tensor, "dtype", None)
            if getattr(dtype, "is_floating", False) and tensor.shape.rank == 0:
                values.append(float(tensor))
        if values:
            self._losses.append(sum(values) / len(values))

    def facts(self, steps: int) -> TrainedNumbers:
        """The results so far: sums, since whole weights would be too large."""
        sums: list[float] = []
        for reference in self._trained:
            variable = reference()
            if variable is None or not getattr(variable, "trainable", False):
                continue
            value = self._tf.cast(variable, self._tf.float64)
            # The plain sum alone hides changes that cancel out; the sum of absolute values shows a
            # difference in a single weight.
            sums += [
                float(self._tf.reduce_sum(value)),
                float(self._tf.reduce_sum(self._tf.abs(value))),
            ]
        return TrainedNumbers(steps=steps, losses=tuple(self._losses), weights=tuple(sums))
