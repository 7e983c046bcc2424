"""Holes that a function of jax.jit is given: arrays of a shape that it can be traced with."""

import importlib
import time
from collections.abc import Callable, Iterator
from itertools import islice, product
from math import isqrt, prod
from typing import Any

from tpudiag.sources.job.points import Args, Kwargs, Library

from . import batch_sizes
from .holes import Hole, batched, is_open, shape_of

_MOST, _MOST_S = 64, 20.0
"""Combinations of shapes that are tried, and for how long."""
_SIDE, _TOKENS = 32, 128
_CHANNELS = ((), (1,), (3,))
Given = tuple[Args, Kwargs]


class JittedHoles:
    """What functions are called with; `stands_in` tells whether anything was stood in for."""

    def __init__(self, jax: Library, stands_in: Callable[[], bool]) -> None:
        self._jax, self._stands_in = jax, stands_in
        self._fitting: dict[object, dict[int, object]] = {}
        """Of a function and the shapes of its arrays: what stands in their place."""

    def filled(
        self, function: object, traces: Callable[[Args, Kwargs], bool], args: Args, kwargs: Kwargs
    ) -> Given | None:
        """What a function is given with its holes filled; None where there is none, or none fits.

        An array of NumPy that was made of a hole has any shape: it is a hole, where the function
        cannot be traced with it.
        """
        leaves, tree = self._jax.tree_util.tree_flatten((args, kwargs))

        def given(arrays: dict[int, object]) -> Given:
            whole = [arrays.get(at, leaf) for at, leaf in enumerate(leaves)]
            made: Given = self._jax.tree_util.tree_unflatten(tree, whole)
            return made

        def fitting(empty: dict[int, Hole]) -> dict[int, object]:
            kernels = [
                tuple(leaf.shape) for leaf in leaves if len(getattr(leaf, "shape", ())) in (2, 4)
            ]
            ends = time.monotonic() + _MOST_S
            tried = product(*(_arrays(hole, kernels) for hole in empty.values()))
            for arrays in islice(tried, _MOST):
                found = dict(zip(empty, arrays, strict=True))
                if time.monotonic() > ends:
                    break
                if traces(*given(found)):
                    return found
            return {}

        empty = {at: leaf for at, leaf in enumerate(leaves) if isinstance(leaf, Hole)}
        found = fitting(empty) if empty else {}
        if not empty and self._stands_in():
            arrays = {at: leaf for at, leaf in enumerate(leaves) if _of_numpy(leaf)}
            key = id(function), tuple(leaf.shape for leaf in arrays.values())
            if arrays and key not in self._fitting:
                batches = {at: batched(len(leaf)) for at, leaf in arrays.items()}
                self._fitting[key] = {} if traces(args, kwargs) else fitting(batches)
            found = self._fitting.get(key, {})
        return given(found) if found else None


def _of_numpy(leaf: Any) -> bool:
    return type(leaf).__name__ == "ndarray" and bool(leaf.shape)


def _arrays(hole: Hole, kernels: list[tuple[int, ...]]) -> Iterator[object]:
    """What a hole may stand for: by its own shape, or by those of what is multiplied with it."""
    zeros: Any = importlib.import_module("numpy").zeros
    if not is_open(hole):
        yield zeros(shape_of(hole), "float32")
        return
    batch = batch_sizes.of(hole)
    yield from (zeros((batch, *(_SIDE,) * (len(of) - 2), of[-2]), "float32") for of in kernels[:4])
    yield zeros(batch, "int32")
    yield zeros((batch, _TOKENS), "int32")
    yield from (zeros((batch, of[-1]), "float32") for of in kernels[-1:])
    # Pictures that are flattened within.
    for flat, channels in product((of[-2] for of in kernels[:4]), _CHANNELS):
        side = isqrt(flat // prod(channels))
        if side * side * prod(channels) == flat:
            yield zeros((batch, side, side, *channels), "float32")
