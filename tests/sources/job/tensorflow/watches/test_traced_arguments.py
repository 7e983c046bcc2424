"""The properties of arguments that tracing depends on, and how two calls differ."""

from dataclasses import dataclass
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.shortening.loops import INNER_STEPS
from tpudiag.sources.job.tensorflow.watches import function_record
from tpudiag.sources.job.tensorflow.watches.function_record import FunctionRecord


@dataclass(frozen=True)
class Tensor:
    """What has a shape and a type."""

    shape: tuple[int | None, ...]
    dtype: str = "float32"


class Iterated:
    """An iterator of a strategy, of which tracing looks at what it gives."""

    def __init__(self, spec: str) -> None:
        self._type_spec = spec


class Function:
    """A tf.function, as far as its arguments go."""

    @staticmethod
    def python_function(batch: Any, step: Any = 0) -> None:
        """A step."""


FUNCTION: Any = Function


def kinds(before: tuple[Any, ...], after: tuple[Any, ...]) -> list[tuple[str, str]]:
    """The arguments that differ between two calls, and how."""
    old, new = (function_record.signature(FUNCTION, args, {}) for args in (before, after))
    return [(change.argument, change.kind) for change in function_record.changes(old, new)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((Tensor((8, 3)),), (Tensor((8, 3)),), []),
        ((Iterated("int32[8]"),), (Iterated("int32[8]"),), []),
        ((Iterated("int32[8]"),), (Iterated("int32[9]"),), [("batch", "iterator")]),
        ((Tensor((8, 3)),), (Tensor((7, 3)),), [("batch", "shape")]),
        ((Tensor((8, 3)),), (Tensor((8, 3), "int32"),), [("batch", "dtype")]),
        ((Tensor((8,)), 1), (Tensor((8,)), 2), [("step", "python value")]),
        (
            ({"x": Tensor((8,))},),
            ({"y": Tensor((8,))},),
            [("batch['x']", "structure"), ("batch['y']", "structure")],
        ),
        (((Tensor((8,)), 1),), ((Tensor((8,)), 1.0),), [("batch[1]", "python value")]),
    ],
)
def test_what_differs_between_two_calls(
    before: tuple[Any, ...], after: tuple[Any, ...], expected: list[tuple[str, str]]
) -> None:
    assert kinds(before, after) == expected


def test_a_call_whose_arguments_do_not_fit_is_described_all_the_same() -> None:
    signature = function_record.signature(FUNCTION, (1, 2, 3), {})
    assert sorted(signature) == ["argument 0", "argument 1", "argument 2"]


def test_a_loop_is_longer_by_the_argument_that_holds_its_length() -> None:
    record = FunctionRecord(name="steps", location=None, loops=["step"])
    assert record.times_shortened(FUNCTION, (None, 10 * INNER_STEPS), {}) == 10
    assert record.times_shortened(FUNCTION, (None, "many"), {}) == 1
    assert FunctionRecord(name="steps", location=None).times_shortened(FUNCTION, (), {}) == 1
