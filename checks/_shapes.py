"""Sets of shapes: those that recur are compiled once each, those that grow are compiled anew."""

import re

from tpudiag.signals import ArgumentChange, TracedFunction

FEWEST_CALLS = 8
"""Of which it can be told whether shapes recur."""
CALLS_EACH = 3
"""Calls of each shape at least, in the mean, by which a set of shapes is a reasonable one."""
_SIZES = re.compile(r"\[([^\]]*)\]")


def recur(function: TracedFunction) -> bool:
    """Whether a function is traced for a few shapes that come again, and for no new one.

    One smaller last batch is no set of shapes: it is that of a remainder.
    """
    changes = [change for retrace in function.retraces for change in retrace.changes]
    if not changes or any(change.kind != "shape" for change in changes):
        return False
    first_half = all(2 * retrace.call <= function.calls for retrace in function.retraces)
    few = FEWEST_CALLS <= function.calls >= CALLS_EACH * function.traces
    remainder = len(function.retraces) == 1 and all(map(_is_remainder, changes))
    return first_half and few and not remainder


def _is_remainder(change: ArgumentChange) -> bool:
    """Whether the first dimension alone differs."""
    before, after = (_sizes(text) for text in (change.before, change.after))
    return len(before) == len(after) and before[1:] == after[1:]


def _sizes(text: str) -> list[str]:
    """The dimensions in `float32[32, 128]`."""
    found = _SIZES.search(text)
    return [size.strip() for size in found[1].split(",")] if found else []
