"""Arrays of data that are stood in for: they take the shape that is asked of them."""

import importlib
from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

from tpudiag.sources.job.points import Call

_LARGE = 2**26
"""Numbers that no array is repeated to."""


@cache
def _array_class() -> type:
    """NumPy's array, of elastic size: what is made of one is one, too."""
    numpy = importlib.import_module("numpy")
    array: Any = numpy.ndarray

    class OpenArray(array):  # type: ignore[misc]
        """Cut or repeated where another shape is asked for than its numbers fill."""

        tpudiag_learning: Call | None = None

        def __getitem__(self, key: Any) -> object:
            """A part, or one number, which its column learns from."""
            found, learning = array.__getitem__(self, key), self.tpudiag_learning
            return learning(found, key) if learning and isinstance(key, int) else found

        def __iter__(self) -> Iterator[object]:
            """Its parts."""
            return (self[at] for at in range(len(self)))

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


def opened(array: Any, learning: Call | None = None) -> object:
    """The same numbers, of elastic size; `learning` hears which one is used, and gives it."""
    made = array.view(_array_class())
    made.tpudiag_learning = learning
    return made
