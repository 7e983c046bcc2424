"""The parts of the libraries' own objects used here: tensors, datasets, strategies and the like.

TensorFlow has no type hints, and its classes move between releases: these protocols list what is
read, whatever the class is called. Code that only passes objects on uses `object`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, overload


class DType(Protocol):
    """Of numbers or texts."""

    name: str
    size: int
    """Bytes."""
    base_dtype: DType
    is_integer: bool
    is_floating: bool
    is_bool: bool


class Shape(Protocol):
    """A tensor's shape; an unknown size is None."""

    rank: int | None
    as_list: Callable[[], list[int | None]]
    is_fully_defined: Callable[[], bool]
    num_elements: Callable[[], int | None]

    def __iter__(self) -> Iterator[int | None]: ...
    @overload
    def __getitem__(self, axis: int) -> int | None: ...
    @overload
    def __getitem__(self, axis: slice) -> Shape: ...


class Spec(Protocol):
    """Shape and type, of a tensor or its specification."""

    shape: Shape
    dtype: DType


class Tensor(Spec, Protocol):
    """With its position in a graph."""

    name: str
    op: Operation
    value_index: int
    """Its index among its operation's outputs."""
    graph: Graph


class Variable(Spec, Protocol):
    """Of TensorFlow."""

    name: str
    handle: Tensor
    assign_add: Callable[..., object]
    numpy: Callable[[], Any]


class Operation(Protocol):
    """A node of a graph."""

    name: str
    type: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    graph: Graph
    device: str
    op_def: Any
    traceback: Sequence[Any]
    get_attr: Callable[[str], Any]


class Graph(Protocol):
    """A function's graph."""

    name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    variables: Iterable[Variable]
    captures: Iterable[tuple[Tensor, Tensor]]
    """External tensors, each with the internal one that replaces it."""
    get_operations: Callable[[], list[Operation]]
    as_graph_def: Callable[..., Any]


class Function(Protocol):
    """Made by tf.function."""

    python_function: Callable[..., object]
    experimental_get_compiler_ir: Callable[..., Callable[..., Any]]
    experimental_get_tracing_count: Callable[[], int]
    get_concrete_function: Callable[..., ConcreteFunction]


class ConcreteFunction(Protocol):
    """One trace of a function."""

    graph: Graph
    structured_outputs: Any


class Dataset(Protocol):
    """A pipeline, or a part of one."""

    element_spec: object
    cardinality: Callable[[], Any]
    batch: Callable[..., Dataset]
    cache: Callable[[], Dataset]
    concatenate: Callable[[Dataset], Dataset]
    enumerate: Callable[[], Dataset]
    filter: Callable[..., Dataset]
    flat_map: Callable[..., Dataset]
    map: Callable[..., Dataset]
    options: Callable[[], Any]
    prefetch: Callable[[int], Dataset]
    repeat: Callable[..., Dataset]
    shuffle: Callable[..., Dataset]
    take: Callable[[Any], Dataset]
    window: Callable[..., Dataset]
    with_options: Callable[[object], Dataset]

    def __iter__(self) -> Iterator[Any]: ...


class Strategy(Protocol):
    """A distribution strategy."""

    num_replicas_in_sync: int
    extended: Any
    experimental_local_results: Callable[[object], tuple[Any, ...]]
    run: Callable[..., object]
    scope: Callable[[], AbstractContextManager[object]]
