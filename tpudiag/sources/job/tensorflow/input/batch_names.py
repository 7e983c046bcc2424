"""The names of a number in the user's code: those visible where it is used."""

import linecache
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from types import FunctionType, ModuleType
from typing import Any, TypeGuard, cast

from tpudiag.sources.job.points import user_lines

GLOBAL = re.compile(r"global.*(batch|bs|size)|(batch|bs).*global", re.IGNORECASE)
_REPLICAS = re.compile(r"num_replicas|\breplicas\b", re.IGNORECASE)
# A larger dict is data (a vocabulary, an index), not settings.
MOST_ATTRIBUTES = 500


def names_of(number: int) -> tuple[str, ...]:
    """The user's names on the stack with this value: `BATCH`, `args.batch_size`.

    A name that the script makes by a product with the replicas is told as such.
    """
    return tuple(sorted({_made(name, file) for name, value, file in named() if value == number}))


def _made(name: str, file: str) -> str:
    """A name, with what it is made of where a line of its file multiplies by the replicas."""
    assigned = re.compile(rf"\s*{re.escape(name)}\s*(?::[^=]+)?=(?!=)([^#]*)")
    made = (hit[1].strip() for line in linecache.getlines(file) if (hit := assigned.match(line)))
    product = next((each for each in made if "*" in each and _REPLICAS.search(each)), None)
    return f"{name} = {product}" if product else name


def global_batch() -> int | None:
    """The value of the user's name for the global batch; None without one, or with several."""
    values = {value for name, value, _ in named() if GLOBAL.search(name)}
    return values.pop() if len(values) == 1 else None


def named() -> Iterator[tuple[str, int, str]]:
    """The names of numbers, each with its number and the file that has it."""
    main = vars(sys.modules.get("__main__", sys))
    seen = {id(main)}
    yield from ((*each, str(main.get("__file__", ""))) for each in _integers(main))
    for frame in user_lines.frames():
        file = frame.f_code.co_filename
        if user_lines.is_user_file(file):
            yield from ((*each, file) for each in _integers(frame.f_locals))
            if id(frame.f_globals) not in seen:
                seen.add(id(frame.f_globals))
                yield from ((*each, file) for each in _integers(frame.f_globals))


def _integers(names: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    for name, value in list(names.items()):
        if _is_count(value):
            yield name, value
        elif not name.startswith("__") and _has_settings(value, names):
            for field, inner in _fields(value):
                if isinstance(field, str) and _is_count(inner):
                    yield f"{name}.{field}", inner


def _has_settings(value: object, names: Mapping[str, object]) -> bool:
    """Whether numbers that it holds are the user's: of a class or module, only one of their own."""
    if isinstance(value, ModuleType):
        file = getattr(value, "__file__", None)
        return bool(file and user_lines.is_user_file(file))
    if isinstance(value, type):  # the objects of a dataclass have its numbers
        return value.__module__ == names.get("__name__") and not is_dataclass(value)
    return not isinstance(value, FunctionType)


def _fields(value: Any) -> list[tuple[object, object]]:
    try:
        if type(value).__name__ == "FlagValues":
            return list(value.flag_values_dict().items())
        held = cast("dict[object, object]", value if isinstance(value, dict) else vars(value))
        # A mapping of a library's own may give anything as its items.
        pairs = (each for each in held.items() if type(each) is tuple)
        return list(pairs) if len(held) <= MOST_ATTRIBUTES else []
    except Exception:
        return []


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 1
