"""Holes that JAX is given: arrays of a shape that a jitted function can be traced with.

First as the arrays of ones, zeros or noise that the script itself made, to give its model weights
by.
"""

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice, product
from math import isqrt, prod
from typing import Any, cast

from tpudiag.sources.job.points import Args, Call, Kwargs, Library, hooks, table, user_lines
from tpudiag.sources.job.tensorflow.fake_data import asking, batch_sizes, holes

_MOST, _MOST_S, _MOST_COMBINED = 64, 20.0, 600
"""Combinations of shapes that are tried, and for how long; those that are put in order."""
_SIDE, _TOKENS = 32, 128
_taken: dict[object, list[list[object]]] = {}
"""What a function took for its holes, by all that they may stand for: tried first the next time."""
_CHANNELS = ((), (1,), (3,))
_examples: list[Any] = []
"""Arrays that the script made of a shape, the last one first."""
_MOST_EXAMPLES = 6


def watch(jax: Library) -> None:
    """What the script hands JAX stays a hole, and what it makes by a shape is like its batch."""
    for name in table.JAX_SENT.names:  # each is in one of the modules
        hooks.around(table.JAX_SENT.named(name), partial(_sent, jax, name != "device_put"), jax)
    for name in table.JAX_ARRAYS_CHANGED.names:
        hooks.around(table.JAX_ARRAYS_CHANGED.named(name), partial(_changed, name), jax)
    hooks.around(table.JITTED, partial(_placed_anywhere, jax), jax)
    hooks.after(table.JAX_EXAMPLE_MADE, _made, jax, gives=True)
    asking.Asked.tpudiag_array = jax.Array


def _changed(name: str, original: Call, value: Any, *args: object, **kwargs: object) -> object:
    """An array is to be of another shape: so is a hole, or what the first of several gives."""
    parts = cast("list[object]", value if isinstance(value, (list, tuple)) else [value])
    first = parts[0] if parts else None
    if isinstance(first, holes.Hole) and user_lines.direct_caller() is not None:
        return holes.used(first, name, args)
    return original(value, *args, **kwargs)


def _sent(
    jax: Library, is_array: bool, original: Call, value: Any, *args: object, **kwargs: object
) -> object:
    """A value is to be an array, or to lie on devices: so is what a hole in it stands for."""
    if not holes.holds(value) or user_lines.direct_caller() is None:
        return original(value, *args, **kwargs)

    def one(part: object) -> object:
        if not isinstance(part, holes.Hole):
            return original(part, *args, **kwargs)
        made = holes.used(part, "sent")
        made.tpudiag_sent = lambda array: original(array, *args, **kwargs)  # pyright: ignore
        return made

    if is_array and isinstance(value, list):
        return one(holes.stacked(cast("list[holes.Hole]", value)))
    return jax.tree_util.tree_map(one, value)


def fill_modules(_: Library) -> None:
    """What a module of flax.linen is given to make its weights by."""
    jax: Any = importlib.import_module("jax")

    def traces(init: Call, args: Args, kwargs: Kwargs) -> bool:
        with suppress(Exception):
            jax.eval_shape(lambda: init(*args, **kwargs))
            return True
        return False

    def made(original: Call, module: object, *args: object, **kwargs: object) -> object:
        init = partial(original, module)
        args, kwargs = filled(jax, False, partial(traces, init), args, kwargs) or (args, kwargs)
        return init(*args, **kwargs)

    hooks.around(table.MODULE_INITIALISED, made)


def _placed_anywhere(jax: Library, original: Call, *args: object, **kwargs: object) -> object:
    """A function is told places that are made of what is not there: it finds its own."""

    def known(place: object) -> object:
        return None if isinstance(place, holes.Hole) else place

    for name in kwargs.keys() & {"in_shardings", "out_shardings"}:
        kwargs[name] = jax.tree_util.tree_map(known, kwargs[name])
    return original(*args, **kwargs)


def _made(array: Any, *_: object, **__: object) -> None:
    """The script makes an array of a shape that it tells."""
    if getattr(array, "ndim", 0) > 1 and user_lines.direct_caller() is not None:
        others = [each for each in _examples if each.shape != array.shape]
        _examples[:] = [array, *others][:_MOST_EXAMPLES]


def filled(
    jax: Library, mapped: bool, traces: Callable[[Args, Kwargs], bool], args: Args, kwargs: Kwargs
) -> tuple[Args, Kwargs] | None:
    """What a function is given with its holes filled; None where there is none, or none fits.

    One that is `mapped` has a part of each array for each device.
    """
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
    empty = {at: leaf for at, leaf in enumerate(leaves) if isinstance(leaf, holes.Hole)}
    if not empty:
        return None
    ends = time.monotonic() + _MOST_S
    parts = (jax.local_device_count(),) if mapped else ()
    known = (leaf for leaf in leaves if not isinstance(leaf, holes.Hole))
    shapes = (tuple(getattr(leaf, "shape", ()))[len(parts) :] for leaf in known)
    kernels = [shape for shape in shapes if len(shape) in (2, 4)]
    asked = next(filter(None, map(holes.batch_of, empty.values())), None)
    rows = (*parts, (asked or batch_sizes.of(None)) // prod(parts))
    each_of = [[*_arrays(hole, kernels, rows)] for hole in empty.values()]
    for later in each_of[1:]:  # what stands behind the examples are labels
        later.sort(key=lambda array: array.ndim > 1 + len(parts))
    key = len(leaves), *(array.shape for arrays in each_of for array in arrays)
    few = int(_MOST_COMBINED ** (1 / len(empty)))
    places = product(*(enumerate(arrays[:few]) for arrays in each_of))
    tried = sorted(places, key=lambda arrays: sum(at for at, _ in arrays))
    found = ([array for _, array in arrays] for arrays in tried)
    for arrays in islice(chain(_taken.get(key, ()), found), _MOST):
        if time.monotonic() > ends:
            break
        with suppress(ValueError):  # what does not divide by the devices is not sent to them
            for (at, hole), array in zip(empty.items(), arrays, strict=True):
                leaves[at] = hole.tpudiag_sent(array)
            given: tuple[Args, Kwargs] = jax.tree_util.tree_unflatten(tree, leaves)
            if traces(*given):
                _taken[key] = [arrays]
                return given
    return None


def _arrays(
    hole: holes.Hole, kernels: list[tuple[int, ...]], rows: tuple[int, ...]
) -> Iterator[Any]:
    """What a hole may stand for: by its own shape, by examples, or by what multiplies it."""
    zeros: Any = importlib.import_module("numpy").zeros
    if not holes.is_open(hole):  # though one that was only indexed may have more dimensions
        yield zeros(holes.shape_of(hole), "float32")
    yield from (zeros((*rows, *of.shape[1:]), of.dtype) for of in _examples)
    # A class for each pixel.
    yield from (zeros((*rows, *of.shape[1:-1]), "int32") for of in _examples if of.ndim > 3)
    made = sorted({of[-1] for of in kernels if len(of) == 4})
    yield from (zeros((*rows, _SIDE, _SIDE), "int32") for _ in made[:1])
    if not kernels:  # of a module without weights yet
        yield zeros((*rows, _SIDE, _SIDE, 3), "float32")
    yield from (zeros((*rows, *(_SIDE,) * (len(of) - 2), of[-2]), "float32") for of in kernels[:4])
    yield zeros(rows, "int32")
    yield zeros((*rows, _TOKENS), "int32")
    yield from (zeros((*rows, of[-1]), "float32") for of in kernels[-1:])
    yield from (zeros((*rows, _SIDE, _SIDE, channels), "float32") for channels in made[:2])
    # Pictures that are flattened within.
    for flat, channels in product((of[-2] for of in kernels[:4]), _CHANNELS):
        side = isqrt(flat // prod(channels))
        if side * side * prod(channels) == flat:
            yield zeros((*rows, side, side, *channels), "float32")
