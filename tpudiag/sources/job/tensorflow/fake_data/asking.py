"""What is asked of a hole: to be taken apart, to branch by, to decorate, or to be an array."""

from __future__ import annotations

import dis
import linecache
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from inspect import iscode
from itertools import islice, pairwise, takewhile
from types import CodeType, FrameType, FunctionType
from typing import Any

from tpudiag.sources.job.points import user_lines

_BRANCHES = ("POP_JUMP", "JUMP_IF", "UNARY_NOT", "TO_BOOL")
_ENDING, _NEAR = re.compile(r"'\*?(\.[A-Za-z]\w{1,4})'"), 8
_MAINS = ("<module>", "main")
_USES_AT_ONCE, _MOST_USES = 4096, 1 << 20
_asked: Counter[tuple[CodeType, int]] = Counter()
"""How often a branch of a loop was taken, or how many uses of holes were counted at a line."""
together: dict[tuple[FrameType, int] | None, list[object]] = {}
"""What was asked for iterators, by each call that did; until something is taken of one."""


class Asked:
    """What counts as an array of JAX with libraries that sort arguments: all but arrays are fixed.

    JAX itself is not told so: it would look for the values.
    """

    tpudiag_array: type | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        while frame.f_code.co_name == "__instancecheck__" and frame.f_back:
            frame = frame.f_back
        name, by = frame.f_code.co_name, frame.f_globals.get("__name__", "").partition(".")[0]
        sorts = name.startswith("is_") and "array" in name and by != "jax"
        return (sorts and self.tpudiag_array) or type(self)


def by_user() -> bool:
    """Whether the user's own line asks, not a library that looks what it was given."""
    return user_lines.direct_caller() is not None


def taken_apart() -> int:
    """How many names the user's line that runs gives the parts of what it asks: `x, _ = f(y)`."""
    frame = user_frame()
    at = -1 if frame is None else frame.f_lasti
    pairs = () if frame is None else _unpackings(frame.f_code)
    # Within a call Python may be at the caches behind its instruction.
    return next((int(end.arg or 0) for one, end in pairs if one.offset <= at <= end.offset), 0)


def parts_of_rounds() -> int:
    """How many names each round of the user's loop takes apart: `for x, y in f(z)`."""
    for frame in islice(_user_frames(), 2):  # what is gone over may be in a function of its own
        run = [each for each in dis.get_instructions(frame.f_code) if each.opname != "CACHE"]
        ahead = [each for each in run if each.offset > frame.f_lasti]
        begins = next((n for n, e in enumerate(ahead[:_NEAR]) if e.opname == "FOR_ITER"), None)
        if begins is None:
            continue
        names = takewhile(lambda e: e.opname.startswith(("UNPACK", "STORE")), ahead[begins + 1 :])
        parts = [int(each.arg or 0) for each in names if each.opname == "UNPACK_SEQUENCE"]
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        return parts[-1] if len(parts) > ("enumerate(" in line) else 0
    return 0


def begun_together(asked: object) -> list[object]:
    """What one call of the user's line asks for an iterator of, up to this: `zip(x, y)`."""
    frame = user_frame()
    place = None if frame is None else (frame, frame.f_lasti)
    together.setdefault(place, []).append(asked)
    return together[place]


def taken_at_will() -> bool:
    """Whether the user's line asks for an iterator, `iter(x)`: a loop over `x` ends by itself."""
    frame = user_frame()
    return frame is not None and frame.f_lineno in _iterator_lines(frame.f_code)


def user_frame() -> FrameType | None:
    """The innermost frame of the user's."""
    return next(_user_frames(), None)


def _user_frames() -> Iterator[FrameType]:
    return (f for f in user_lines.frames() if user_lines.is_user_file(f.f_code.co_filename))


def ending_asked() -> str | None:
    """The ending of names that the user's code asks for about where it runs: `".wav"`."""
    return next((found[1] for frame in _user_frames() if (found := _ending(frame))), None)


def _ending(frame: FrameType) -> re.Match[str] | None:
    run: list[Any] = [*dis.get_instructions(frame.f_code)]
    at = sum(each.offset < frame.f_lasti for each in run)
    inner = [each.argval for each in run[max(at - _NEAR, 0) : at] if iscode(each.argval)]
    near = *(text for code in inner for text in code.co_consts), *(each.argval for each in run[at:])
    return _ENDING.search(repr(near[: _NEAR * 8]))


def is_decorated(given: object) -> bool:
    """Whether a function is given to what stands above its own `def`."""
    frame = user_frame()
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


def takes_apart(function: object) -> bool:
    """Whether a function of the user's takes its last argument apart at once: `x, y = data`."""
    code = getattr(function, "__code__", None)
    if code is None or not user_lines.is_user_file(code.co_filename):
        return False
    last = code.co_varnames[code.co_argcount - 1]
    return any(before.argval == last for before, _ in _unpackings(code))


@cache
def _unpackings(code: CodeType) -> tuple[tuple[dis.Instruction, dis.Instruction], ...]:
    """The instructions that take something apart, each with the one before it."""
    run = [each for each in dis.get_instructions(code) if each.opname not in ("CACHE", "NOP")]
    return tuple(pair for pair in pairwise(run) if pair[1].opname == "UNPACK_SEQUENCE")


def turns() -> bool:
    """Whether a loop that asks a hole the same in each round, to branch, gets the other answer."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    place = frame.f_code, frame.f_lasti
    if not user_lines.is_user_file(place[0].co_filename) or place[1] not in _branches(place[0]):
        return False
    _asked[place] += 1
    return _asked[place] % 2 == 0


@cache
def _branches(code: CodeType) -> frozenset[int]:
    """The instructions of a code's loops that go one way or another."""
    run = [*dis.get_instructions(code)]
    jumps = ((each.argval, each.offset) for each in run if "JUMP" in each.opname)
    loops = [(to, at) for to, at in jumps if isinstance(to, int) and to < at]
    return frozenset(
        each.offset
        for each in run
        if each.opname.startswith(_BRANCHES) and any(to <= each.offset <= at for to, at in loops)
    )


def end_what_only_uses_holes(uses: int) -> None:
    """Ends a statement of the main flow after too many uses of holes: it may have no end."""
    if uses % _USES_AT_ONCE:
        return
    mains = (f for f in _user_frames() if f.f_code.co_name in _MAINS)
    place = next(((f.f_code, -f.f_lineno) for f in mains), None)
    if place is not None:
        _asked[place] += _USES_AT_ONCE
        if _asked[place] > _MOST_USES:
            raise TypeError("a Hole is used too often")
