"""Holes that a model of Keras on JAX is given: arrays, as its inputs and its loss ask for them."""

import importlib
from functools import partial
from math import prod
from typing import Any

from tpudiag.sources.job.points import Call, Library, bindings, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Shape

from . import batch_sizes, holes
from .ledger import Ledger

OPEN = 32
"""A size that a model leaves open."""
_COUNTED = ("steps_per_epoch", "validation_steps", "validation_split", "sample_weight")
"""What of a call goes by the data that were given."""


def fill_models(keras: Library, ledger: Ledger) -> None:
    """What its models are trained on, evaluated on or asked for."""
    for at in (table.FIT, table.EVALUATE, table.PREDICT):
        hooks.around(at, partial(_given, ledger), keras)


def _given(ledger: Ledger, original: Call, model: Any, *args: object, **kwargs: object) -> object:
    """A model is given data."""
    bound = bindings.bound(original, model, *args, **kwargs)
    inputs: Any = getattr(model, "inputs", None)
    if bound is None or not inputs or not holes.holds([*bound.arguments.values()][1:]):
        return original(model, *args, **kwargs)
    ledger.note(f"what the model is given at {user_lines.caller()}, as its inputs ask for it")
    given, taken = bound.arguments, bound.signature.parameters
    data, size = given.get("x"), given.get("batch_size")
    batch = size if isinstance(size, int) else batch_sizes.of(data)
    # Whole batches: whether the last one is ragged is no matter of what is not there.
    rows = max(holes.count(data) // batch, batch_sizes.BATCHES) * batch
    x = [_rows(_example(each.shape, each.dtype), rows) for each in inputs]
    y = [_rows(each, rows) for each in _labels(model)]
    of_fit = "validation_data" in taken
    if of_fit and {"validation_data", "validation_split"} & given.keys():
        given["validation_data"] = (_one(x), _one(y))
    for name in [each for each in given if each in _COUNTED]:
        del given[name]
    given |= {"x": _one(x), "batch_size": batch} | ({"y": _one(y)} if "y" in taken and y else {})
    for name in [each for each in given if holes.holds(given[each])]:
        del given[name]
    return original(*bound.args, **bound.kwargs)


def _labels(model: Any) -> list[object]:
    """One of each output, as its loss takes it."""
    losses: Any = getattr(model, "loss", None)
    each_of: list[object] = [*losses] if isinstance(losses, (list, tuple)) else [losses]
    outputs = [*model.outputs]
    each_of = each_of if len(each_of) == len(outputs) else each_of[:1] * len(outputs)
    return [label(output.shape, loss) for output, loss in zip(outputs, each_of, strict=True)]


def label(shape: Shape, loss: object) -> object:
    """A label, as a loss takes it for an output of this shape."""
    numpy: Any = importlib.import_module("numpy")
    sizes = [OPEN if size is None else int(size) for size in tuple(shape)[1:]]
    name = str(getattr(loss, "name", "") or getattr(loss, "__name__", "") or loss).lower()
    name += type(loss).__name__.lower()
    made = numpy.zeros(sizes[:-1] if "sparse" in name else sizes, "float32")
    if "sparse" in name and sizes:
        return made.astype("int32")
    if "categorical" in name and sizes:
        made[..., 0] = 1
    return made


def _example(shape: Shape, dtype: object) -> object:
    """An input of any values."""
    numpy: Any = importlib.import_module("numpy")
    sizes = [size or OPEN for size in tuple(shape)[1:]]
    halves = numpy.arange(prod(sizes)).reshape(sizes) % 2 / 2
    return halves.astype(dtype)


def _rows(example: Any, rows: int) -> object:
    """So many of it, which take the space of one."""
    return importlib.import_module("numpy").broadcast_to(example, (rows, *example.shape))


def _one(parts: list[object]) -> object:
    """As a model of one input or output takes it."""
    return parts[0] if len(parts) == 1 else parts
