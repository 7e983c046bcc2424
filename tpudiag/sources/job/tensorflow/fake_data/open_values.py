"""Values of tables and files that are stood in for: numbers, and arrays of them, that are as asked.

A number is used as its digits where a text is wanted of it; an array takes the shape it is asked.
"""

import importlib
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from enum import IntEnum
from functools import cache
from math import prod
from typing import Any

from tpudiag.sources.job.points import Args, user_lines

from .ledger import WORDS

_LARGE = 2**26
"""Numbers that no array is repeated to."""
_TURNS = 4
"""A value that a column is compared with has every fourth row."""
_FIRST_DAY = datetime(1990, 1, 1)


class Kind(IntEnum):
    """What a column holds."""

    NUMBERS = 0
    DIGITS = 1
    NAMES = 2
    TEXTS = 3
    DAYS = 4


_MADE: tuple[Callable[[int], object], ...] = (
    lambda row: row % 2,
    lambda row: str(row % 2),
    lambda row: f"file-{row:05d}",  # as `_NAME`
    lambda row: " ".join(WORDS.split()[row % 5 :]),
    # Each day twice, as other columns turn: what is followed over days has all of them.
    lambda row: _FIRST_DAY + timedelta(row // 2),
)
_NAME = re.compile(r"file-\d{5}")
_NAMED = (
    (Kind.TEXTS, re.compile(r"text|comment|content|sentence|review|tweet|question|title", re.I)),
    (
        Kind.NAMES,
        re.compile(r"(^|_)(id|uid|name|file|filename|path|image|img|url)(_|$)|_?id$", re.I),
    ),
)
"""What a column mostly holds that is called so: no use tells it of one that is handed on whole."""


def values(rows: int, name: object, kind: Kind | None, equal: tuple[object, ...]) -> list[object]:
    """What a column of that name holds; some rows are `equal` to what it was compared with."""
    if kind is None:
        kind = next((kind for kind, named in _NAMED if named.search(str(name))), Kind.NUMBERS)
    turns = (row % max(_TURNS, len(equal)) for row in range(rows))
    return [equal[at] if at < len(equal) else _MADE[kind](row) for row, at in enumerate(turns)]


def by_user() -> bool:
    """Whether the user's own line asks, not a library that looks what it was given."""
    return user_lines.direct_caller() is not None


class OpenName(str):
    """The name of a file; what is used as a number, is one of two."""

    def __int__(self) -> int:
        return int(self[-1]) % 2

    __index__ = __int__

    def __float__(self) -> float:
        return float(int(self))

    def __add__(self, other: Any) -> Any:
        return str(self) + other if isinstance(other, str) else int(self) + other

    def __reduce__(self) -> tuple[type, Args]:
        return str, (str(self),)


class OpenNumber(int):
    """A number; what is used as a text, or as the name of a file, is its digits."""

    def __getattr__(self, name: str) -> object:
        text = hasattr(str, name) and not name.startswith("__")
        return getattr(str(self) if text else importlib.import_module("numpy").int64(self), name)

    def __add__(self, other: Any) -> Any:
        return str(self) + other if isinstance(other, str) else int(self) + other

    def __radd__(self, other: Any) -> Any:
        return other + str(self) if isinstance(other, str) else other + int(self)

    def __getitem__(self, key: Any) -> str:
        return str(self)[key]

    def __len__(self) -> int:
        return len(str(self))

    def __fspath__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[type, Args]:
        return int, (int(self),)


def opened(found: Any) -> Any:
    """The same numbers, or the same value for the user's line that asks for one, open."""
    kind = type(found).__name__
    if kind == "ndarray":
        return found.view(_array_class())
    if kind in ("int", "int64"):
        return OpenNumber(found) if by_user() else found
    return OpenName(found) if kind == "str" and _NAME.fullmatch(found) and by_user() else found


@cache
def _array_class() -> type:
    """NumPy's array, of elastic size: what is made of one is one, too."""
    numpy = importlib.import_module("numpy")
    array: Any = numpy.ndarray

    class OpenArray(array):  # type: ignore[misc]
        """Cut or repeated where another shape is asked for than its numbers fill."""

        def __getitem__(self, key: Any) -> object:
            return opened(array.__getitem__(self, key))

        def __iter__(self) -> Iterator[object]:
            return map(opened, array.__iter__(self))

        def reshape(self, *shape: object, **options: object) -> object:
            """As asked: rows are put together, or stay where each is asked for in another shape."""
            sizes = asked_sizes(shape)
            rows = len(self) if self.ndim else 1
            of_row, own = prod(sizes[1:]), prod(self.shape[1:])
            alike = own in (1, of_row) or sizes[-1:] == [*self.shape[-1:]]
            if sizes[:1] in ([-1], [rows]) and not alike and of_row > 1 and self.ndim > 1:
                return numpy.resize(self, (rows, *sizes[1:])).view(OpenArray)
            try:
                return array.reshape(self, *shape, **options)
            except ValueError:
                rows = rows if rows * abs(of_row) < _LARGE else max(rows // abs(of_row), 1)
                known = [rows if size < 0 else size for size in sizes]
                return numpy.resize(self, known).view(OpenArray)

    return OpenArray


def asked_sizes(shape: tuple[Any, ...]) -> list[int]:
    """The sizes that a shape is asked by, which may be given one by one or as a list."""
    alone: Any = shape[0] if len(shape) == 1 and hasattr(shape[0], "__len__") else None
    return [int(size) for size in (shape if alone is None else alone)]
