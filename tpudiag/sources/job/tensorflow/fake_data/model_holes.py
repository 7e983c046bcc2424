"""What a model of Keras asks for in the place of holes: by its inputs, its outputs and its loss."""

import importlib
from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from tpudiag.sources.job.points import Call, Library, bindings, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Shape, Spec

from . import batch_sizes, holes
from .ledger import WORDS, Ledger

_OPEN = 32
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
    given = bound.arguments
    data: Any = given.get("x")
    size, losses = given.get("batch_size"), getattr(model, "loss", None)
    batch = size if isinstance(size, int) else batch_sizes.of(data)
    trains, rows = "y" in bound.signature.parameters, holes.count(data)
    fits = [tuple(each.shape)[1:] for each in inputs] == [tuple(getattr(data, "shape", ()))[1:]]
    there = fits and not holes.holds(data)
    if there:
        rows = len(data)
    elif trains:  # whether the last batch is ragged is no matter of what is not there
        rows = max(rows // batch, batch_sizes.BATCHES) * batch
    x = data if there else _so_many(rows, [*map(simplest, inputs)])
    y = _so_many(rows, labels(model.outputs, losses)) if losses else None
    if given.keys() & {"validation_data", "validation_split"}:
        given["validation_data"] = (x, y)
    given |= {"x": x, "batch_size": batch}
    if trains:
        given["y"] = y
    for name in [each for each in given if each in _COUNTED or holes.holds(given[each])]:
        del given[name]
    return original(*bound.args, **bound.kwargs)


def labels(outputs: Sequence[Any], losses: Any) -> list[object]:
    """One of each output, as its loss takes it."""
    each_of: list[object] = [*losses] if isinstance(losses, (list, tuple)) else [losses]
    each_of = each_of if len(each_of) == len(outputs) else each_of[:1] * len(outputs)
    return [_label(output.shape, loss) for output, loss in zip(outputs, each_of, strict=True)]


def _label(shape: Shape, loss: object) -> object:
    """A label, as a loss takes it for an output of this shape."""
    numpy: Any = importlib.import_module("numpy")
    sizes = [_OPEN if size is None else int(size) for size in tuple(shape)[1:]]
    name = str(getattr(loss, "name", "") or getattr(loss, "__name__", "") or loss).lower()
    name += type(loss).__name__.lower()
    made = numpy.zeros(sizes[:-1] if "sparse" in name else sizes, "float32")
    if "sparse" in name and sizes:
        return made.astype("int32")
    if "categorical" in name and sizes:
        made[..., 0] = 1
    return made


def simplest(spec: Spec, first: int = 1) -> object:
    """An array of any values, of the dimensions from `first` on: of one example."""
    numpy: Any = importlib.import_module("numpy")
    sizes = [size or _OPEN for size in tuple(spec.shape)[first:]]
    dtype: Any = getattr(spec.dtype, "as_numpy_dtype", spec.dtype)
    if dtype in (object, "string"):
        return numpy.full(sizes, WORDS, object)
    return (numpy.arange(prod(sizes)).reshape(sizes) % 2 / 2).astype(dtype)


def _so_many(rows: int, examples: list[Any]) -> object:
    """Rows of each, which take the space of one; one array alone, as a model takes it."""
    broadcast: Any = importlib.import_module("numpy").broadcast_to
    made = [broadcast(each, (rows, *each.shape)) for each in examples]
    return made[0] if len(made) == 1 else made
