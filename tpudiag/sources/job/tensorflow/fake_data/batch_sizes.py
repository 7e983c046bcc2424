"""The batch that a script has given a name by now, and how many examples that asks for."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from tpudiag.sources.job.points import user_lines

BATCHES = 6
"""Batches that data hold at least: a fifth of them, as is put aside for validation, hold one."""
_MOST = 16_384
_NOT = re.compile(r"step|num_|(^|_)n_batch|batches")
"""Counts of batches, by their names."""


def examples() -> int:
    """Examples enough for some steps of each of a script's loops; 0 where it names no batch.

    `STEPS = NUMBER_OF_IMAGES // BATCH_SIZE` is 0 where there are fewer than a batch.
    """
    return BATCHES * (largest() or 0)


def largest() -> int | None:
    """The largest batch that has a name: a global one, of a class or dict of settings, a local."""
    sizes = (_size(name, value) for name, value in _named())
    return max((size for size in sizes if size), default=None)


def _size(name: object, value: Any) -> int | None:
    """The batch that a value is, by its name."""
    text = str(name).lower()
    is_one = "batch" in text and _NOT.search(text) is None
    return value if is_one and type(value) is int and 0 < value <= _MOST else None


def _named() -> Iterator[tuple[object, Any]]:
    """What the user's lines on the stack, and the script, see by name."""
    spaces: list[dict[str, Any]] = [dict(vars(sys.modules.get("__main__", sys)))]
    frame: Any = sys._getframe()  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if user_lines.is_user_file(frame.f_code.co_filename):
            spaces += [dict(frame.f_globals), dict(frame.f_locals)]
        frame = frame.f_back
    for space in spaces:
        yield from space.items()
        for holder in space.values():
            yield from _members(holder)


def _members(holder: Any) -> Iterator[tuple[object, Any]]:
    """What a dict, class, object or module of the user's holds."""
    if isinstance(holder, dict):
        yield from list(holder.items())
        return
    file = getattr(holder, "__file__", None) if isinstance(holder, ModuleType) else None
    own = file is not None and user_lines.is_user_file(file)
    made = getattr(type(holder), "__module__", "") == "__main__"
    if own or made or isinstance(holder, type) or type(holder).__name__ == "Namespace":
        yield from list(getattr(holder, "__dict__", {}).items())
