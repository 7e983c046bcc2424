"""Sets of shapes: those that recur are compiled once each, those that grow are compiled anew."""

from tpudiag.signals import TracedFunction

FEWEST_CALLS = 8
"""Of which it can be told whether shapes recur."""
CALLS_EACH = 3
"""Calls of each shape at least, in the mean, by which a set of shapes is a reasonable one."""
FEWEST_SHAPES = 3
"""TensorFlow's `reduce_retracing` traces twice at most: with the second shape it leaves open what
differs, and no further shape is seen."""


def recur(function: TracedFunction) -> bool:
    """Whether a function is traced for a few shapes that come again, and for no new one."""
    changes = [change for retrace in function.retraces for change in retrace.changes]
    if not changes or any(change.kind != "shape" for change in changes):
        return False
    first_half = all(2 * retrace.call <= function.calls for retrace in function.retraces)
    few = FEWEST_CALLS <= function.calls >= CALLS_EACH * function.traces
    return first_half and few and function.traces >= FEWEST_SHAPES
