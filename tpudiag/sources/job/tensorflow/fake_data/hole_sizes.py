"""The sizes of a hole: each is the simplest, until a use tells it or something counts it."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, TypeAlias

from tpudiag.sources.job.points import Args

LENGTH = 2400
"""Elements of a hole that is counted, and rows of a table: 60, 80 or 100 may make an example."""
NUMBER, WIDTH = 2, 8
_SIZES = 8
"""Elements that a list of sizes or of names has at most, as a rule."""
_REDUCED = (
    "sum", "mean", "max", "min", "std", "median", "count", "bincount", "value_counts", "nunique",
    "item",
)  # fmt: skip
"""Uses that give one number for all, unless they are told of an axis."""


class Guess(int):
    """A size that nothing told: what is made of it is as large as we say."""


class Size:
    """One size of a hole: the simplest, until a use tells it or something counts it."""

    def __init__(self, simplest: int = LENGTH, known: int | None = None) -> None:
        self.simplest, self.known = simplest, known

    def __int__(self) -> int:
        return self.simplest if self.known is None else self.known

    def counted(self, simplest: int | None = None) -> int:
        """Its number; where nothing tells it yet, the first that counts it does."""
        if self.known is None:
            self.known = simplest or self.simplest
        return self.known


Dims: TypeAlias = tuple[Size, ...]


def asked_sizes(shape: tuple[Any, ...]) -> list[int]:
    """The sizes that a shape is asked by, which may be given one by one or as a list."""
    alone: Any = shape[0] if len(shape) == 1 and hasattr(shape[0], "__len__") else None
    return [int(size) for size in (shape if alone is None else alone)]


def made_by(dims: Dims, use: str, given: Args) -> Dims:
    """The sizes that a use gives."""
    first = dims[0] if dims else Size()
    if use == "reshape":
        return tuple(first if size < 0 else Size(known=size) for size in asked_sizes(given))
    if use == "unique":  # classes
        return (Size(NUMBER), *dims[1:-1])
    if use in ("add", "radd") and isinstance(given[0], list):  # tokens, with others around them
        return (Size(known=first.counted() + len(given[0])),)
    if use in _REDUCED and all(map(_is_hole, given)):
        return ()
    widths = [each for each in given if type(each) is int and each > 0]
    wide = [Size(known=max(widths))] if widths else [*dims[1:]] or [Size(WIDTH)]
    parts: Any = given[0] if given and isinstance(given[0], (list, tuple)) else ()
    beside: tuple[Any, ...] = (*given, *parts[:_SIZES])
    if counts := [len(each) for each in beside if _has_rows(each)]:
        return (Size(known=counts[0]), *wide)
    # Others may be as many by chance.
    return (Size(first.simplest, first.known), *dims[1:]) if given and dims else dims


def indexed(dims: Dims, key: Any) -> Dims:
    """The sizes of what is taken of a hole, axis by axis."""
    # Columns: a table that is listed gives holes for their names.
    if isinstance(key, list) and key and (isinstance(key[0], str) or _is_hole(key[0])):
        return (*dims[:1], Size(known=len(key)))
    keys, rest, made = key if isinstance(key, tuple) else (key,), list(dims), list[Size]()
    for at, each in enumerate(keys):
        if each is None:
            made.append(Size(known=1))
        elif each is Ellipsis:
            kept = max(len(rest) - sum(other is not None for other in keys[at + 1 :]), 0)
            made, rest = [*made, *rest[:kept]], rest[kept:]
        else:
            size = rest.pop(0) if rest else Size()
            if "bool" in str(getattr(each, "dtype", "")):  # a mask of several dimensions leaves one
                rest = rest[getattr(each, "ndim", 1) - 1 :]
            if not isinstance(each, int) and getattr(each, "ndim", 1) != 0:
                made.append(_along(size, each, is_open=at > 0 and size.known is None))
    return (*made, *rest)


def _along(size: Size, key: Any, is_open: bool) -> Size:
    """How many are taken along one axis; of an open one it stays open."""
    if isinstance(key, slice) and not any(isinstance(e, str) for e in (key.start, key.stop)):
        count = len(range(int(size))[key])
        return Size(count, None if is_open else count)
    masks = isinstance(key, str) or _is_hole(key) or "bool" in str(getattr(key, "dtype", ""))
    counted: Any = getattr(key, "__len__", None)
    return size if masks or counted is None else Size(known=counted())


def _has_rows(given: Any) -> bool:
    """Whether it has as many elements as there are examples: more than a shape has sizes."""
    if isinstance(given, (str, bytes, dict)) or _is_hole(given):
        return False
    try:
        return len(given) > _SIZES
    except (TypeError, ValueError):  # also tensors of which only a graph knows it
        return False


def _is_hole(given: object) -> bool:
    return hasattr(given, "tpudiag_dims")
