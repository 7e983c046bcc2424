"""The same random numbers in each run, and what was computed with them, to compare two runs."""

from __future__ import annotations

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


def _loss_of(result: Any) -> object:
    """The loss among the named results of a step; all of it where none is named so."""
    named = hasattr(result, "keys") and "loss" in result
    return result["loss"] if named else result


def seed_python(seed: int) -> None:
    """Seed Python's and NumPy's generators, before the program runs."""
    random.seed(seed)
    with contextlib.suppress(ImportError):
        import numpy as np

        np.random.seed(seed)
        hooks.around(table.NUMPY_GENERATOR, partial(_reproducible, itertools.count(seed)))


def _reproducible(drawn: Iterator[int], default_rng: Call, seed: object = None) -> object:
    """NumPy's `default_rng`, which without a seed takes the system's entropy: no two runs share it.

    The argument has NumPy's own name, by which scripts give it.
    """
    return default_rng(next(drawn) if seed is None else seed)


class SameNumbers:
    """Seeds TensorFlow, and keeps the losses of the steps and the variables that are trained."""

    def __init__(self, tf: Library, seed: int) -> None:
        self._tf = tf
        self._losses: list[float] = []
        self._trained: list[weakref.ref[object]] = []
        tf.random.set_seed(seed)

    def made(self, variable: object) -> None:
        """A variable was made that is trained."""
        if len(self._trained) < MOST_VARIABLES:
            self._trained.append(weakref.ref(variable))

    def step_done(self, result: Any) -> None:
        """A training step has returned: its loss, or the mean of the floating scalars it gives."""
        values: list[float] = []
        if hasattr(result, "get_value"):  # an Optional: Keras 3 gives one, for data that end
            result = result.get_value() if bool(result.has_value()) else None
        given = _loss_of(result)
        for tensor in self._tf.nest.flatten(given, expand_composites=True):
            dtype = getattr(tensor, "dtype", None)
            if getattr(dtype, "is_floating", False) and tensor.shape.rank == 0:
                values.append(float(tensor))
        if values:
            self._losses.append(sum(values) / len(values))

    def facts(self, steps: int) -> TrainedNumbers:
        """What was computed up to now: sums, for whole weights would be too much."""
        sums: list[float] = []
        for reference in self._trained:
            variable = reference()
            if variable is None or not getattr(variable, "trainable", False):
                continue
            value = self._tf.cast(variable, self._tf.float64)
            # The sum alone hides changes that cancel out; with the sum of the absolute values two
            # runs that differ in one weight are told apart.
            sums += [
                float(self._tf.reduce_sum(value)),
                float(self._tf.reduce_sum(self._tf.abs(value))),
            ]
        return TrainedNumbers(steps=steps, losses=tuple(self._losses), weights=tuple(sums))
