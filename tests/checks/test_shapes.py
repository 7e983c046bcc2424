"""A function of a few shapes that come again, and one whose further shapes are not seen."""

from importlib import import_module

import pytest

from tpudiag.signals import ArgumentChange, Retrace, TracedFunction


@pytest.mark.parametrize(("calls_that_traced", "recurs"), [((3,), False), ((3, 5), True)])
def test_what_is_traced_twice_may_leave_open_what_differs(
    calls_that_traced: tuple[int, ...], recurs: bool
) -> None:
    change = ArgumentChange("ids", "int32[128, 127]", "int32[128, 96]", "shape")
    retraces = tuple(Retrace(call, 5.0, (change,), None) for call in calls_that_traced)
    function = TracedFunction(
        name="train_step", location=None, calls=27, traces=1 + len(retraces), retraces=retraces
    )
    assert import_module("tpudiag.checks._shapes").recur(function) is recurs
