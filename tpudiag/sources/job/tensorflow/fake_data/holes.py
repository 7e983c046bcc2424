"""A value that is not there: a hole, which takes any use, and each use of one gives another.

What is not known of it stays open until something must be a number, a length or an array; then it
is the simplest there is. What was done with it is kept: the batch that a script asked of it, the
shape that it brought it into.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from tpudiag.sources.job.points import Args, Call, hooks, table, user_lines

from .asking import is_decorated, taken_apart, taken_at_will
from .open_arrays import asked_sizes

filled: list[Callable[[Hole], Iterable[object] | None]] = []
"""What gives batches for a hole that is gone over, where a model tells what they are."""
LENGTH = 2400
"""Elements of a hole that is counted, and rows of a table: 60, 80 or 100 may make an example."""
_PARTS = 128
"""Elements of a hole that is gone over: each round may go over another."""
_BATCHES = 32
"""Batches of a hole that is gone over: more than the steps that are observed."""
_NUMBER, _WIDTH = 2, 8
_SIZES = 8
"""Elements that a list of sizes or of names has at most, as a rule."""
_JOINED = ("concatenate", "vstack")
"""Uses that put the elements of several after each other."""
_REDUCED = (
    "sum", "mean", "max", "min", "std", "median", "count", "value_counts", "nunique", "item",
)  # fmt: skip
"""Uses that give one number for all, unless they are told of an axis."""
_DEEPEST = 200
_OF_OTHERS = ("tpudiag_use", "dtype", "is_tensor_like", "cardinality", "element_spec")
"""What tells libraries that something is a tensor, an array or a dataset."""
_OF_MODELS = ("fit", "predict")
"""What tells libraries that something is no data but a model; the script may well ask for it."""


class Hole:
    """Takes any use."""

    def __init__(
        self, before: Hole | None = None, use: str = "", given: Args = (),
        cause: Exception | None = None,
    ) -> None:  # fmt: skip
        self.__dict__.update(tpudiag_use=(before, use, given), tpudiag_cause=cause)

    def __getattr__(self, name: str) -> object:
        # Python and the libraries ask whatever they are given for such names.
        asked = name in _OF_MODELS and user_lines.direct_caller() is None
        if name.startswith("_") or name in _OF_OTHERS or asked:
            raise AttributeError(name)
        return shape_of(self) if name == "shape" else Hole(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        self.__dict__[name] = value

    def __call__(self, *args: object, **kwargs: object) -> object:
        """What a call of it would give; what it decorates stays as it is."""
        if len(args) == 1 and not kwargs and is_decorated(args[0]):
            return args[0]
        before, use, known = vars(self).get("tpudiag_use", (None, "", ()))
        given = (*args, *kwargs.values())
        return Hole(self, "", given) if known or not use else Hole(before, use, given)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """What stands for it among a class's bases: the others, or one that takes any use."""
        return () if any(isinstance(base, type) for base in bases) else (_Base,)

    def __getitem__(self, key: object) -> Hole:
        return Hole(self, "[]", (key,))

    def __setitem__(self, key: object, value: object) -> None:
        """Whatever is put in is lost."""

    def __delitem__(self, key: object) -> None:
        """There is nothing to remove."""

    def __iter__(self) -> Iterator[object]:
        parts = taken_apart()
        batches = None if parts or batch_of(self) is None else [each(self) for each in filled]
        if batches and batches[0] is not None:
            return iter(batches[0]) if taken_at_will() else islice(batches[0], _BATCHES)
        parts = parts or self._narrowed(_PARTS)
        return (Hole(self, "part", (number,)) for number in range(parts))

    def __exit__(self, *_: object) -> None:
        """Nothing was opened."""

    def __len__(self) -> int:
        if shape_of(self) == () and user_lines.direct_caller() is None:
            raise TypeError("a library asks a Hole for ever more dimensions")
        return self._narrowed(LENGTH)

    def _narrowed(self, simplest: int) -> int:
        """Its elements; where nothing tells them yet, the first that counts them does."""
        known = length_of(self)
        if known is None:
            known = self.__dict__["tpudiag_length"] = simplest
        return known

    def __bool__(self) -> bool:
        return True

    def __contains__(self, _: object) -> bool:
        return True

    def __int__(self) -> int:
        return _NUMBER

    __index__ = __int__

    def __float__(self) -> float:
        return float(_NUMBER)

    def __str__(self) -> str:
        return "hole"

    # As a path it is a name that nothing has: who opens it fails for want of the file.
    __repr__ = __fspath__ = __str__

    def __format__(self, _: str) -> str:
        return "hole"

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[type, Args]:
        # What was done with it may hold what cannot be written.
        return Hole, ()

    def __deepcopy__(self, _: object) -> Hole:
        return self

    def __array__(self, dtype: object = None, copy: object = None) -> object:
        numpy = importlib.import_module("numpy")
        shape = shape_of(self)
        return numpy.full(shape, 0 if shape else _NUMBER, dtype or "float32")

    def __array_ufunc__(self, function: object, _: str, *inputs: object, **__: object) -> object:
        return Hole(self, "ufunc", (function, *inputs))

    def __array_function__(self, function: object, _: object, args: Args, __: object) -> object:
        name = getattr(function, "__name__", "")
        return Hole(self, name, args[1:] if name == "reshape" else args)


class _Base(Hole):
    """The base of a class of the script's, where its own is not there."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()


def _operator(name: str) -> Call:
    def use(self: Hole, *given: object) -> object:
        return Hole(self, name, given)

    return use


_BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
    "lshift", "rshift",
)  # fmt: skip
_UNARY = ("neg", "pos", "abs", "invert", "round", "next", "enter")
for _name in ("eq", "ne", "lt", "le", "gt", "ge", *_UNARY, *_BINARY):
    setattr(Hole, f"__{_name}__", _operator(_name))
for _name in _BINARY:
    setattr(Hole, f"__r{_name}__", _operator(_name))


def install() -> None:
    """Let it be written as JSON, as a number."""

    def of_json(original: Call, encoder: object, value: object) -> object:
        return int(value) if isinstance(value, Hole) else original(encoder, value)

    hooks.around(table.JSON_WRITTEN, of_json)


def batched(size: object) -> Hole:
    """A hole of which so many examples are asked at once."""
    return Hole(None, "batch", (size,))


def _steps(hole: object) -> Iterator[tuple[Hole, str, Args]]:
    """Holes that one comes from, itself first; what made each, and what that was given."""
    for _ in range(_DEEPEST):
        if not isinstance(hole, Hole):
            return
        at, (hole, use, given) = hole, vars(hole).get("tpudiag_use", (None, "", ()))
        yield at, use, given


def cause_of(hole: Hole) -> Exception | None:
    """How it was said that what should have made a hole is not installed."""
    return next(filter(None, (vars(at).get("tpudiag_cause") for at, *_ in _steps(hole))), None)


def shape_of(hole: Hole) -> tuple[int, ...]:
    """The shape that a script brought a hole into, else a simple one; a part has one less."""
    known = length_of(hole)
    parts, rows, width = 0, known or LENGTH, 0
    for _, use, given in _steps(hole):
        parts += use == "part" or (use == "[]" and type(given[0]) is int)
        if known is None and use in _REDUCED and all(isinstance(each, Hole) for each in given):
            return ()
        if use == "reshape":
            sizes = asked_sizes(given)
            return tuple(rows if size < 0 else size for size in sizes)[parts:]
        parts += _of_text(given)
        if _of_text(given) or any(map(_has_rows, given)):  # and of so many tokens
            width = width or max((each for each in given if type(each) is int), default=0)
    return (rows, width if width > 0 else _WIDTH)[parts:]


def is_open(hole: object) -> bool:
    """Whether a hole's shape is not known from anything that was done with it."""
    return isinstance(hole, Hole) and shape_of(hole)[-1:] == (_WIDTH,)


def _of_text(given: Args) -> bool:
    """Whether it is made of one text."""
    return bool(given) and isinstance(given[0], str) and " " in given[0]


def length_of(hole: object) -> int | None:
    """As many as what it was made of, added to or compared with has, or as were taken of it."""
    cuts: list[slice] = []
    known = _uncut_length(hole, cuts)
    for cut in reversed(cuts):
        known = len(range(LENGTH if known is None else known)[cut])
    return known


def _uncut_length(hole: object, cuts: list[slice]) -> int | None:
    """The same before some `cuts`; of texts, their tokens."""
    for at, use, given in _steps(hole):
        if "tpudiag_length" in vars(at):
            return int(vars(at)["tpudiag_length"])
        if use == "[]":
            key: Any = given[0][0] if isinstance(given[0], tuple) and given[0] else given[0]
            if isinstance(key, slice):
                cuts.append(key)
            elif type(key) is int:
                return None
            elif "bool" in str(getattr(key, "dtype", "")):
                continue
            elif isinstance(key, list) or hasattr(key, "ndim"):
                return len(key)
        if use == "part":
            return None
        parts: Any = given[0] if len(given) and isinstance(given[0], (list, tuple)) else ()
        if use in _JOINED and parts:
            return sum(map(len, parts))
        beside: tuple[Any, ...] = (*given, *parts[:_SIZES])
        if sized := [len(each) for each in beside if _has_rows(each)]:
            return sized[0]
    return None


def _has_rows(given: Any) -> bool:
    """Whether it has as many elements as there are examples: more than a shape has sizes."""
    if isinstance(given, (str, bytes, dict, Hole)):
        return False
    try:
        return len(given) > _SIZES
    except (TypeError, ValueError):  # also tensors of which only a graph knows it
        return False


def batch_of(hole: object) -> int | None:
    """The batch that a script asked of a hole."""
    for _, use, given in _steps(hole):
        if "batch" in use and given and isinstance(given[0], int):
            return int(given[0])
    return None


def holds(given: object, depth: int = 5) -> bool:
    """Whether there is a hole among arguments."""
    if isinstance(given, Hole):
        return True
    if depth and isinstance(given, (list, tuple)):
        return any(holds(each, depth - 1) for each in given[:16])
    if depth and isinstance(given, dict):
        return any(holds(each, depth - 1) for each in list(given.values())[:16])
    return False
