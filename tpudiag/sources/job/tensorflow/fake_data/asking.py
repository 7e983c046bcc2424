"""What the user's line that asks for something does with it: takes it apart, or decorates by it."""

from __future__ import annotations

import dis
from functools import cache
from types import CodeType, FrameType, FunctionType

from tpudiag.sources.job.points import user_lines


def taken_apart() -> int:
    """How many names the user's line that runs gives the parts of what it asks: `x, _ = f(y)`."""
    frame = _user_frame()
    return _unpacked(frame.f_code).get(frame.f_lasti, 0) if frame is not None else 0


def taken_at_will() -> bool:
    """Whether the user's line asks for an iterator, `iter(x)`: a loop over `x` ends by itself."""
    frame = _user_frame()
    return frame is not None and frame.f_lineno in _iterator_lines(frame.f_code)


def _user_frame() -> FrameType | None:
    """The innermost frame of the user's."""
    users = (f for f in user_lines.frames() if user_lines.is_user_file(f.f_code.co_filename))
    return next(users, None)


def is_decorated(given: object) -> bool:
    """Whether a function is given to what stands above its own `def`."""
    frame = _user_frame()
    if not isinstance(given, FunctionType) or given.__name__ == "<lambda>" or frame is None:
        return False
    code = given.__code__
    first = code.co_firstlineno
    body = min((line for *_, line in code.co_lines() if line and line > first), default=first + 1)
    return code.co_filename == frame.f_code.co_filename and first <= frame.f_lineno < body


@cache
def _iterator_lines(code: CodeType) -> frozenset[int | None]:
    """The lines on which `iter` is named."""
    named = [each.offset for each in dis.get_instructions(code) if each.argval == "iter"]
    ranges = (each for each in code.co_lines() if any(each[0] <= at < each[1] for at in named))
    return frozenset(line for *_, line in ranges)


@cache
def _unpacked(code: CodeType) -> dict[int, int]:
    """The instructions whose result is taken apart at once, and into how many parts."""
    found: dict[int, int] = {}
    before = -1
    for instruction in dis.get_instructions(code):
        if instruction.opname == "UNPACK_SEQUENCE":
            found[before] = found[instruction.offset] = int(instruction.arg or 0)
        if instruction.opname not in ("CACHE", "NOP"):
            before = instruction.offset
    return found
