"""The batch that a script has given a name by now, and how many examples that asks for."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
import re
import sys
from collections.abc import Iterator, Mapping

from tpudiag.sources.job.points import Kwargs, user_lines

from .holes import batch_of

BATCHES = 6
"""Batches that data hold at least: a fifth of them, as is put aside for validation, hold one."""
_SIMPLEST, _MOST = 32, 16_384
_NOT = re.compile(r"step|num_|(^|_)n_batch|batches")
"""Counts of batches, by their names."""


def examples() -> int:
    """Examples enough for some steps of each of a script's loops; 0 where it names no batch.

    `STEPS = NUMBER_OF_IMAGES // BATCH_SIZE` is 0 where there are fewer than a batch.
    """
    return BATCHES * (largest() or 0)


def of(data: object, simplest: int = _SIMPLEST) -> int:
    """The batch that a script asked of a hole, else the largest that it names."""
    return batch_of(data) or largest() or simplest


def largest() -> int | None:
    """The largest batch that has a name: a global one, of a class or dict of settings, a local."""
    return max((size for space in _spaces() for size in _sizes(space, 1)), default=None)


def _spaces() -> Iterator[Kwargs]:
    """What the user's lines on the stack, and the script, see by name."""
    yield dict(vars(sys.modules.get("__main__", sys)))
    for frame in user_lines.frames():
        if user_lines.is_user_file(frame.f_code.co_filename):
            yield from (dict(frame.f_globals), dict(frame.f_locals))


def _sizes(space: Mapping[str, object], deeper: int) -> Iterator[int]:
    """The batches that have a name in it, or in what of the script's own it holds."""
    for key, value in list(space.items()):
        name = str(key).lower()
        if type(value) is int and 0 < value <= _MOST:
            if "batch" in name and _NOT.search(name) is None:
                yield value
        elif deeper and _is_of_script(value):
            held = value if isinstance(value, dict) else getattr(value, "__dict__", {})
            yield from _sizes(dict(held), deeper - 1)


def _is_of_script(holder: object) -> bool:
    """Whether it is a dict, class or module of settings, or an object of the script's own."""
    if isinstance(holder, (dict, type)) or type(holder).__name__ == "Namespace":
        return True
    file = getattr(holder, "__file__", None)
    own = isinstance(file, str) and user_lines.is_user_file(file)
    return own or type(holder).__module__ == "__main__"
