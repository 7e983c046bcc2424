"""What is seen of a pipeline that runs alone, without TensorFlow."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.input import input_benchmark


def as_it_is(element: Any) -> Any:
    return element


TF: Any = SimpleNamespace(nest=SimpleNamespace(flatten=as_it_is))


class Endless:
    """A dataset that gives its elements again and again."""

    def __init__(self, elements: list[Any]) -> None:
        self._elements = elements

    def cardinality(self) -> int:
        return -1

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield from self._elements


Sizes = tuple[int | None, ...]
NO_SHAPES = set[tuple[Sizes, ...]]()


def batch(*shapes: Sizes) -> list[SimpleNamespace]:
    return [SimpleNamespace(shape=shape) for shape in shapes]


@pytest.mark.parametrize(
    ("batches", "shapes"),
    [
        ([batch((16, 12, 2), (16,)), batch((8, 12, 2), (8,))], {((12, 2), ())}),
        ([batch((16, 12)), batch((16, 13))], {((12,),), ((13,),)}),
        ([batch((16, length)) for length in range(20)], NO_SHAPES),
        ([batch((16, None))], NO_SHAPES),
    ],
)
def test_shapes_behind_the_batch_are_told_where_they_are_few(
    batches: list[Any], shapes: set[Any]
) -> None:
    endless: Any = Endless(batches)
    run = input_benchmark.Run(endless)
    seen, *others = run.look(TF)
    assert (set(seen), others) == (shapes, [None, None])
