"""Arrays, and single numbers, of data that are stood in for: they are what is asked of them."""

import importlib
from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

from tpudiag.sources.job.points import Args, user_lines

_LARGE = 2**26
"""Numbers that no array is repeated to."""


def by_user() -> bool:
    """Whether the user's own line asks, not a library that looks what it was given."""
    return user_lines.direct_caller() is not None


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


def number(found: Any) -> Any:
    """An open number for the user's line that asks for one; anything else as it is."""
    whole = type(found).__name__ in ("int", "int64")
    return OpenNumber(found) if whole and by_user() else found


@cache
def _array_class() -> type:
    """NumPy's array, of elastic size: what is made of one is one, too."""
    numpy = importlib.import_module("numpy")
    array: Any = numpy.ndarray

    class OpenArray(array):  # type: ignore[misc]
        """Cut or repeated where another shape is asked for than its numbers fill."""

        def __getitem__(self, key: Any) -> object:
            return number(array.__getitem__(self, key))

        def __iter__(self) -> Iterator[object]:
            return map(number, array.__iter__(self))

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


def opened(array: Any) -> object:
    """The same numbers, of elastic size."""
    return array.view(_array_class())
