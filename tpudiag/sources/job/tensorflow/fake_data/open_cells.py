"""Single values of a column that was made: a use that one does not stand tells what it holds."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from tpudiag.sources.job.points import Args, Call, user_lines


class Kind(IntEnum):
    """What a column holds."""

    NUMBERS = 0
    NAMES = 1
    TEXTS = 2
    DIGITS = 3
    DAYS = 4


Learn = Callable[[Kind], Any]
"""Makes the column of another kind, and gives the value that has a value's place in it."""
_NUMBERS = (int, float)
_PARTS = ("split", "rsplit", "splitlines")
_TEXTS = (*_PARTS, "strip", "lstrip", "rstrip", "lower", "upper", "replace", "removeprefix",
          "removesuffix", "__getitem__")  # fmt: skip
"""What gives texts of a text."""
_OF_NUMBERS = ("sub", "rsub", "truediv", "rtruediv", "floordiv", "pow", "neg", "abs", "round")
_OF_BOTH = ("add", "mod", "lt", "le", "gt", "ge")


def by_user() -> bool:
    """Whether the user's own line asks, not a library that looks what it was given."""
    return user_lines.direct_caller() is not None


def cell(value: Any, learn: Learn) -> Any:
    """A value, or a list of them, of a column that learns from it."""
    several: list[Any] = value
    if isinstance(value, list):
        return [cell(each, learn) for each in several]
    if type(value) not in (str, int):
        return value
    made = OpenText(value) if type(value) is str else OpenNumber(value)
    made.tpudiag_learn = learn
    return made


class OpenNumber(int):
    """A number; what is used as a text, or as the name of a file, is one."""

    tpudiag_learn: Learn

    def __getattr__(self, name: str) -> object:
        if hasattr(str, name) and not name.startswith("__"):
            return getattr(self.tpudiag_learn(Kind.TEXTS), name)
        return getattr(importlib.import_module("numpy").int64(self), name)

    def __add__(self, other: Any) -> Any:
        return self.__fspath__() + other if isinstance(other, str) else int(self) + other

    def __radd__(self, other: Any) -> Any:
        return other + self.__fspath__() if isinstance(other, str) else other + int(self)

    def __getitem__(self, key: Any) -> object:
        return self.tpudiag_learn(Kind.TEXTS)[key]

    def __len__(self) -> int:
        return len(self.tpudiag_learn(Kind.TEXTS))

    def __fspath__(self) -> str:
        return str(self.tpudiag_learn(Kind.NAMES))

    def __reduce__(self) -> tuple[type, Args]:
        return int, (int(self),)


class OpenText(str):
    """A text; what is used as a number is one."""

    tpudiag_learn: Learn

    def __int__(self) -> int:
        return int(str(self.tpudiag_learn(Kind.DIGITS)))

    def __float__(self) -> float:
        return float(int(self))

    def __reduce__(self) -> tuple[type, Args]:
        return str, (str(self),)


def _text(name: str) -> Call:
    """A method of texts; what is not parted as it is asked is parted by its words."""

    def call(self: OpenText, *given: Any, **options: Any) -> object:
        parted = name in _PARTS and given and given[0] is not None and given[0] not in self
        given = (None, *given[1:]) if parted else given
        return cell(getattr(str, name)(self, *given, **options), self.tpudiag_learn)

    return call


def _number(name: str) -> Call:
    """An operator of numbers: a text has another, or none."""
    plain: Call | None = getattr(str, f"__{name}__", None)

    def call(self: OpenText, *given: Any) -> object:
        if plain is not None and not isinstance(given[0], _NUMBERS):
            return plain(self, *given)
        number = int(self.tpudiag_learn(Kind.NUMBERS))
        return getattr(int if plain is None else operator, f"__{name}__")(number, *given)

    return call


for _name in _TEXTS:
    setattr(OpenText, _name, _text(_name))
for _name in (*_OF_NUMBERS, *_OF_BOTH):
    setattr(OpenText, f"__{_name}__", _number(_name))
