"""A function of a few shapes that come again, and one whose further shapes are not seen."""

from importlib import import_module

import pytest

from tests.checks.rehearsal import traced
from tpudiag.signals import ArgumentChange, Retrace


@pytest.mark.parametrize(
    ("calls_that_traced", "other", "of_jax", "recurs"),
    [
        ((2, 3), "of [128, 96]", False, True),  # an iterator for each bucket
        ((3,), "int32[128, 96]", False, False),
        ((3, 5), "int32[128, 96]", False, True),
        ((3,), "int32[128, 96]", True, True),  # jax.jit leaves nothing open
        ((3,), "int32[100, 127]", True, False),  # a ragged last batch
    ],
)
def test_what_is_traced_twice_may_leave_open_what_differs(
    calls_that_traced: tuple[int, ...], other: str, of_jax: bool, recurs: bool
) -> None:
    of_iterator = other.startswith("of")
    change = ArgumentChange("x", "int32[128, 127]", other, "iterator" if of_iterator else "shape")
    again = tuple(Retrace(call, 5.0, (change,), None) for call in calls_that_traced)
    function = traced("train_step", 7 if of_iterator else 27, *again)
    assert import_module("tpudiag.checks._shapes").recur(function, of_jax=of_jax) is recurs
