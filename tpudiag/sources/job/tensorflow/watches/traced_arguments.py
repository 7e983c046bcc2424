"""The properties of call arguments that tracing depends on, and differences between two calls."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from tpudiag.signals import ArgumentChange
from tpudiag.signals.step import ChangeKind, LeafKind
from tpudiag.sources.job.points import Args, Kwargs, privates, user_lines
from tpudiag.sources.job.points.library_objects import Function

Signature = dict[str, tuple[LeafKind, str]]
"""Path of an argument -> (kind, description)."""


def signature(function: Function, args: Args, kwargs: Kwargs) -> Signature:
    """A description of every leaf of a call's arguments, by its path."""
    try:
        call = inspect.signature(function.python_function).bind(*args, **kwargs)
        # To tracing a default and the same explicit value are one call.
        call.apply_defaults()
        bound = call.arguments
    except (TypeError, ValueError):
        bound = {f"argument {index}": value for index, value in enumerate(args)} | kwargs
    leaves: Signature = {}
    for name, value in bound.items():
        _describe(name, value, leaves)
    return leaves


def _describe(path: str, value: object, leaves: Signature) -> None:
    if isinstance(value, dict):
        for key, item in cast(Mapping[object, object], value).items():
            _describe(f"{path}[{key!r}]", item, leaves)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(cast(Sequence[object], value)):
            _describe(f"{path}[{index}]", item, leaves)
    else:
        leaves[path] = _leaf(value)


def _leaf(value: object) -> tuple[LeafKind, str]:
    value = user_lines.first_replica_value(value)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return "python value", f"{type(value).__name__} {value!r}"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        name = getattr(dtype, "name", str(dtype))
        return "tensor", f"{name}{_dimensions(shape)}"
    # For a strategy's iterator tracing depends on its elements, not its identity.
    spec: object = privates.TYPE_SPEC.of(value, None)
    described = f"at {id(value):#x}" if spec is None else f"of {spec}"
    return "object", f"{type(value).__name__} {described}"


def _dimensions(shape: Iterable[int | None]) -> str:
    try:
        return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
    # A TensorShape of unknown rank cannot be iterated.
    except ValueError:
        return "[unknown rank]"


def changes(old: Signature, new: Signature) -> list[ArgumentChange]:
    """The arguments that differ between two signatures."""
    differing: list[ArgumentChange] = []
    for path in sorted(old.keys() | new.keys()):
        before, after = old.get(path), new.get(path)
        if before == after:
            continue
        kind: ChangeKind
        if before is None or after is None:
            kind = "structure"
        elif path == "":
            kind = "new function"
        elif before[0] == after[0] == "tensor":
            same_type = before[1].partition("[")[0] == after[1].partition("[")[0]
            kind = "shape" if same_type else "dtype"
        else:
            kind = after[0] if after[0] != "tensor" else before[0]
        differing.append(
            ArgumentChange(path or "the function itself", _text(before), _text(after), kind)
        )
    return differing


def _text(leaf: tuple[LeafKind, str] | None) -> str:
    if leaf is None:
        return "absent"
    return leaf[1] if len(leaf[1]) <= 120 else leaf[1][:117] + "..."
