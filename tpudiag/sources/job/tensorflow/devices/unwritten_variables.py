"""Large variables whose values are never written, for a job that is planned and not run.

Their memory is reserved but never touched, so that a model larger than this machine can be lowered.
A program does not depend on its variables' values.
"""

from collections.abc import Callable
from contextlib import suppress
from math import prod
from types import CellType
from typing import Any

from tpudiag.sources.job.points import Library, privates
from tpudiag.sources.job.points.library_objects import Spec

LEAST_BYTES = 64 << 20
"""A variable of at least this size stays unwritten."""
_WIDEST_BYTES = 8


def initial(tf: Library, made: Callable[[], object], dtype: object) -> Callable[[], object] | None:
    """A function for an unwritten value like that of `made`; None where it is small.

    `made` is traced for its shape, not run.
    """
    size = _held_elements(made)
    if size is not None and size * _WIDEST_BYTES < LEAST_BYTES:
        return None
    spec = _spec(tf, made)
    if spec is None or not spec.shape.is_fully_defined():
        return None
    kind = tf.as_dtype(dtype) if dtype is not None else spec.dtype
    numbers = kind.is_floating or kind.is_integer
    if kind.size * (spec.shape.num_elements() or 0) < LEAST_BYTES or not numbers:
        return None
    return lambda: tf.raw_ops.Empty(shape=spec.shape.as_list(), dtype=kind, init=False)


def _held_elements(made: Callable[[], object]) -> int | None:
    """The number of elements that `made` creates, from a shape that it holds; else None.

    Tracing each of a model's variables would take longer than the model itself. Keras 3 closes over
    its own variable, and tf_keras binds the shape to its initializer.
    """
    bound: list[Any] = [
        *getattr(made, "args", ())[:1],
        getattr(made, "keywords", {}).get("shape"),
    ]
    closed = (_content(cell) for cell in getattr(made, "__closure__", None) or ())
    bound += [each.shape for each in closed if hasattr(each, privates.INITIALIZES.name)]
    for shape in bound:
        sizes = shape.as_list() if hasattr(shape, "as_list") else shape
        if type(sizes) in (tuple, list) and all(isinstance(each, int) for each in sizes):
            return int(prod(sizes))
    return None


def _content(cell: CellType) -> Any:
    with suppress(ValueError):
        return cell.cell_contents
    return None


def _spec(tf: Library, made: Callable[[], object]) -> Spec | None:
    """Shape and type of an initial value; None where tracing fails, which the job may do, too."""
    traced = tf.function(lambda: tf.convert_to_tensor(made()), autograph=False)
    with suppress(Exception), tf.init_scope():
        spec: Spec = traced.get_concrete_function().structured_outputs
        return spec
    return None
