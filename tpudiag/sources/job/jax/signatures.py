"""The properties of a call's arguments that JAX compiles for, and the differing ones."""

from collections.abc import Sequence

from tpudiag.signals import ArgumentChange
from tpudiag.signals.step import ChangeKind
from tpudiag.sources.job.points import Library

Signature = dict[str, tuple[str, str, str]]
"""Argument -> its kind (array, Python number, object), dtype or type, and shape or value."""
LONGEST = 80


def signature(jax: Library, names: tuple[str, ...], args: object, kwargs: object) -> Signature:
    """Of one call: each leaf of its arguments, by its name in the function."""
    leaves = jax.tree_util.tree_flatten_with_path((args, kwargs))[0]
    return {argument_name(jax.tree_util, path, names): _of(leaf) for path, leaf in leaves}


def changes(before: Signature, after: Signature) -> tuple[ArgumentChange, ...]:
    """The arguments in which two calls differ, as JAX tells programs apart."""
    if before.keys() != after.keys():
        gone = sorted(before.keys() - after.keys()) or ["nothing"]
        new = sorted(after.keys() - before.keys()) or ["nothing"]
        one = (new if new != ["nothing"] else gone)[0]
        return (ArgumentChange(one, f"has {gone[0]}", f"has {new[0]}", "structure"),)
    found: list[ArgumentChange] = []
    values: list[ArgumentChange] = []
    for name, was in before.items():
        now = after[name]
        if was != now and not (_is_given_back(was, now) or _is_given_back(now, was)):
            kind = _kind(was, now)
            change = ArgumentChange(name, _text(was), _text(now), kind or "python value")
            (found if kind is not None else values).append(change)
    # A Python number is traced as an array, and compiles nothing anew, but where it is static: then
    # nothing else differs.
    return tuple(found or values)


def _is_given_back(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    """Whether a Python number and what a program gives for it: JAX compiles once for both."""
    kind = one[1].removeprefix("Python ")
    return (one[0], other[0]) == ("number", "weak number") and kind in other[1]


def _kind(was: tuple[str, str, str], now: tuple[str, str, str]) -> ChangeKind | None:
    """In what they differ; None for Python numbers, for which JAX may compile alike."""
    if was[0] != now[0]:
        return "structure" if "object" in (was[0], now[0]) else "dtype"
    if was[0] == "object":
        return "python value"
    if was[1] != now[1]:
        return "dtype"
    if was[0] == "number":
        return None
    return "shape" if was[2] != now[2] else None


def _of(leaf: object) -> tuple[str, str, str]:
    if isinstance(leaf, (bool, int, float, complex)):
        return "number", f"Python {type(leaf).__name__}", repr(leaf)
    shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
    if shape == () and getattr(leaf, "weak_type", False):
        return "weak number", f"{dtype} (weak)", ""
    if shape is None or dtype is None:
        return "object", type(leaf).__name__, repr(leaf)[:LONGEST]
    weak = " (weak)" if getattr(leaf, "weak_type", False) else ""
    return "array", f"{dtype}{weak}", "[" + ",".join(map(str, shape)) + "]"


def _text(leaf: tuple[str, str, str]) -> str:
    """A leaf in words: `float32[128,784]`, `Python int 3`."""
    kind, dtype, shape = leaf
    return f"{dtype}{shape}" if kind == "array" else f"{dtype} {shape}"


def argument_name(tree: Library, path: Sequence[object], names: tuple[str, ...]) -> str:
    """`state['params']`: a leaf of (args, kwargs) as the function names it."""
    first, second, *rest = path
    at: object = getattr(second, "idx", None)
    if getattr(first, "idx", 0) == 0 and isinstance(at, int):
        name = names[at] if at < len(names) else f"argument {at}"
    else:
        name = str(getattr(second, "key", second))
    return f"{name}{tree.keystr(tuple(rest))}"


def is_ref(jax: Library, leaf: object) -> bool:
    """Whether it is an array that a function may change in place."""
    return isinstance(leaf, getattr(jax, "Ref", ()))
