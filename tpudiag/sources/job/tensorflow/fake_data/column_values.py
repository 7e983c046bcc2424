"""Values of a column that is stood in for: by what is done with it, else by its name."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import Enum
from typing import Any

from .text_files import WORDS

_TEXT = re.compile(r"text|comment|content|sentence|review|tweet|question|context|title|descr", re.I)
_NAME = re.compile(r"(^|_)(id|ids|uid|name|file|filename|path|image|img|url)(_|$)|_?id$", re.I)
_FOLD = re.compile(r"fold", re.I)
_DATE = re.compile(r"date|timestamp", re.I)
_DAY = re.compile(r"\d{4}-\d\d-\d\d.*")
_FIRST_DAY = date(1990, 1, 1)
_PARTS = 4
"""A value that a column is compared with has every fourth row."""


class Kind(Enum):
    """What the values of a column are."""

    NUMBER = "numbers"
    WORDS = "texts"
    NAME = "names of files"
    DIGITS = "numbers as text"
    LIST = "lists as text"
    DAY = "days"
    FOLD = "numbers of five folds"


RETRIED = (Kind.NUMBER, Kind.NAME, Kind.WORDS, Kind.DIGITS, Kind.LIST, Kind.DAY)
"""What a use that fails is tried with, in this order."""


def by_name(name: object) -> Kind:
    """What a column mostly holds that is called so; no use tells that of one handed on whole."""
    text = str(name)
    named = (
        (_TEXT, Kind.WORDS),
        (_NAME, Kind.NAME),
        (_DATE, Kind.DAY),
        (_FOLD, Kind.FOLD),
    )
    return next((kind for pattern, kind in named if pattern.search(text)), Kind.NUMBER)


@dataclass
class Use:
    """What was asked of a column so far."""

    kind: Kind
    equal: list[Any] = field(default_factory=lambda: [])
    """Values that it was compared with."""
    bounds: list[str] = field(default_factory=lambda: [])
    """Days that it was held to be before or after."""

    def values(self, labels: Iterable[Any], rows: int) -> list[Any]:
        """The values in the rows of these labels."""
        return [self._value(_number(label), rows) for label in labels]

    def _value(self, row: int, rows: int) -> Any:
        if row % _PARTS < len(self.equal):
            return self.equal[row % _PARTS]
        if len(self.equal) > _PARTS:
            return self.equal[row % len(self.equal)]
        if self.bounds:
            first, last = (
                date.fromisoformat(each[:10]) for each in (min(self.bounds), max(self.bounds))
            )
            span = max((last - first).days, rows // 4)
            return str(first - timedelta(span // 2) + timedelta(2 * span * row // max(rows, 1)))
        return _MADE[self.kind](row)


def _number(label: Any) -> int:
    """The number of a row, by its label."""
    try:
        return int(label)
    except (TypeError, ValueError):
        return sum(map(ord, str(label)))


def is_day(value: object) -> bool:
    """Whether a text is a day."""
    return isinstance(value, str) and bool(_DAY.fullmatch(value))


def _turned(row: int) -> str:
    words = WORDS.split()
    return " ".join(words[row % 5 :])


_MADE: dict[Kind, Any] = {
    Kind.NUMBER: lambda row: row % 2,
    Kind.WORDS: _turned,
    Kind.NAME: lambda row: f"file-{row:05d}",
    Kind.DIGITS: lambda row: str(row % 2),
    Kind.LIST: lambda row: f"[{row % 2}, 1]",
    # Each day twice, as other columns turn: what is followed over days has all of them.
    Kind.DAY: lambda row: (_FIRST_DAY + timedelta(row // 2)).isoformat(),
    Kind.FOLD: lambda row: row % 5,
}
