"""Holes that a function of jax.jit is given: arrays of a shape that it can be traced with."""

import importlib
import time
from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Any

from tpudiag.sources.job.points import Args, Kwargs, Library

from . import batch_sizes
from .holes import Hole, is_open, shape_of

_MOST, _MOST_S = 64, 20.0
"""Combinations of shapes that are tried, and for how long."""
_SIDE, _TOKENS = 32, 128


def filled(
    jax: Library, traces: Callable[[Args, Kwargs], bool], args: Args, kwargs: Kwargs
) -> tuple[Args, Kwargs] | None:
    """What a function is given with its holes filled; None where there is none, or none fits."""
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
    empty = [at for at, leaf in enumerate(leaves) if isinstance(leaf, Hole)]
    ends = time.monotonic() + _MOST_S
    kernels = [tuple(leaf.shape) for leaf in leaves if len(getattr(leaf, "shape", ())) in (2, 4)]
    for arrays in islice(product(*(_arrays(leaves[at], kernels) for at in empty)), _MOST):
        if time.monotonic() > ends:
            break
        for at, array in zip(empty, arrays, strict=True):
            leaves[at] = array
        given: tuple[Args, Kwargs] = jax.tree_util.tree_unflatten(tree, leaves)
        if empty and traces(*given):
            return given
    return None


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
