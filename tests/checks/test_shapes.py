"""A function of a few shapes that come again, and one whose further shapes are not seen."""

from importlib import import_module

import pytest

from tpudiag.signals import ArgumentChange, Retrace, TracedFunction


@pytest.mark.parametrize(
    ("calls_that_traced", "other", "of_jax", "recurs"),
    [
        ((3,), "int32[128, 96]", False, False),
        ((3, 5), "int32[128, 96]", False, True),
        ((3,), "int32[128, 96]", True, True),  # jax.jit leaves nothing open
        ((3,), "int32[100, 127]", True, False),  # a ragged last batch
    ],
)
def test_what_is_traced_twice_may_leave_open_what_differs(
    calls_that_traced: tuple[int, ...], other: str, of_jax: bool, recurs: bool
) -> None:
    change = ArgumentChange("ids", "int32[128, 127]", other, "shape")
    retraces = tuple(Retrace(call, 5.0, (change,), None) for call in calls_that_traced)
    function = TracedFunction(
        name="train_step", location=None, calls=27, traces=1 + len(retraces), retraces=retraces
    )
    assert import_module("tpudiag.checks._shapes").recur(function, of_jax=of_jax) is recurs
