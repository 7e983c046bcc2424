"""What of the libraries' own objects is used here: of a tensor, a dataset, a model and the like.

TensorFlow tells no types, and its classes move between releases: an object is known by what is
read of it, whatever its class is called. Who only hands one on takes it as `object`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol


class DType(Protocol):
    """Of numbers or texts."""

    name: str
    size: int
    """Bytes."""
    is_integer: bool
    is_bool: bool


class Shape(Protocol):
    """Of a tensor; a size that is open is None."""

    rank: int | None
    as_list: Callable[[], list[int | None]]
    is_fully_defined: Callable[[], bool]
    num_elements: Callable[[], int | None]

    def __iter__(self) -> Iterator[int | None]: ...
    def __getitem__(self, axis: int) -> int | None: ...


class Spec(Protocol):
    """Shape and type, of a tensor or of what is to become one."""

    shape: Shape
    dtype: DType


class Tensor(Spec, Protocol):
    """With its place in a graph."""

    name: str
    op: Operation
    graph: Graph


class Operation(Protocol):
    """A node of a graph."""

    name: str
    type: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    graph: Graph
    get_attr: Callable[[str], Any]


class Graph(Protocol):
    """Of a function."""

    name: str


class Dataset(Protocol):
    """A pipeline, or a part of one."""

    element_spec: object
    take: Callable[[int], Dataset]

    def __iter__(self) -> Iterator[Any]: ...
