"""Columns, rows and single values of tables that are stood in for: their uses tell what they hold.

A single number is used as its digits where a text is wanted of it.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from enum import IntEnum
from functools import wraps
from typing import Any

from tpudiag.sources.job.points import Call, Kwargs, Library

from .open_arrays import by_user, number, opened
from .text_files import WORDS


class Kind(IntEnum):
    """What a column holds."""

    NUMBERS = 0
    NAMES = 1
    TEXTS = 2
    DIGITS = 3
    DAYS = 4


_MISUSES = (TypeError, ValueError, AttributeError, KeyError, SyntaxError)
_PARTS = 4
"""A value that a column is compared with has every fourth row."""
_FIRST_DAY = date(1990, 1, 1)
_USES = (
    "apply", "astype", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__",
    "__truediv__", "__lt__", "__le__", "__gt__", "__ge__", "mean", "std", "sum",
    "__eq__", "__ne__", "isin", "map", "replace",
)  # fmt: skip
"""What fails on a column of another kind, or compares it with what some rows are to hold."""
_MADE: tuple[Callable[[int], object], ...] = (
    lambda row: row % 2,
    lambda row: f"file-{row:05d}",
    lambda row: " ".join(WORDS.split()[row % 5 :]),
    lambda row: str(row % 2),
    # Each day twice, as other columns turn: what is followed over days has all of them.
    lambda row: (_FIRST_DAY + timedelta(row // 2)).isoformat(),
)
_NAMED = (
    (Kind.TEXTS, re.compile(r"text|comment|content|sentence|review|tweet|question|title", re.I)),
    (
        Kind.NAMES,
        re.compile(r"(^|_)(id|uid|name|file|filename|path|image|img|url)(_|$)|_?id$", re.I),
    ),
)
"""What a column mostly holds that is called so: no use tells it of one that is handed on whole."""


def values(rows: int, name: object, kind: Kind | None, equal: tuple[object, ...]) -> list[object]:
    """What a column of that name holds; some rows are `equal` to what it was compared with."""
    if kind is None:
        kind = next((kind for kind, named in _NAMED if named.search(str(name))), Kind.NUMBERS)
    turns = (row % max(_PARTS, len(equal)) for row in range(rows))
    return [equal[at] if at < len(equal) else _MADE[kind](row) for row, at in enumerate(turns)]


class Column:
    """A column that learns from its uses; a row that has whatever is asked of it."""

    _base: Any
    """The Series of the job's pandas."""
    tpudiag_table: Any = None
    """The table of which it is a column as it was made, and not the script's own."""
    index: Any
    name: Any

    @property
    def _constructor(self) -> object:
        return type(self)

    def __getitem__(self, key: object) -> object:
        try:
            return number(self._base.__getitem__(self, key))
        except KeyError:
            if not (isinstance(key, str) and by_user()):
                raise
            row = self.name if isinstance(self.name, int) else 0
            return number(values(row + 1, key, None, ())[row])

    def __getattr__(self, name: str) -> object:
        try:
            return self._base.__getattr__(self, name)
        except AttributeError:
            if name.startswith("_") or not by_user():
                raise
            return self[name]

    def __iter__(self) -> Iterator[object]:
        return map(number, self._base(self))

    def tolist(self) -> list[object]:
        """Its values."""
        return list(self)

    @property
    def values(self) -> object:
        """Its values, of elastic size."""
        given = self._base.values.__get__(self)
        return opened(given) if type(given).__name__ == "ndarray" else given

    @property
    def str(self) -> object:
        """Methods of its texts."""
        return self._again(lambda plain: plain.str)

    def _holding(self, *values: object) -> Any:
        """Plain, and some rows with each of these values."""
        plain, table = self._base(self), self.tpudiag_table
        if table is None or not all(type(value).__hash__ for value in values):
            return plain
        if len(plain) != len(table.index) or plain.isin(values).any():
            return plain
        return self._base(table.made(self.name, equal=values))

    def _again(self, use: Callable[[Any], object], *compared: object) -> object:
        """A use of the column, which has what it is `compared` with; where it fails, of a kind."""
        try:
            return use(self._holding(*compared))
        except _MISUSES:
            table = self.tpudiag_table
            for kind in Kind if table is not None else ():
                rows = self._base(values(len(table.index), "", kind, ()), index=table.index)
                try:
                    result = use(rows.reindex(self.index))
                except Exception:
                    continue
                table.made(self.name, kind)
                return result
            raise


def column_class(pandas: Library) -> type:
    """The class of open columns, of the job's pandas."""
    uses: Kwargs = {name: _used(getattr(pandas.Series, name)) for name in _USES}
    return type("Column", (Column, pandas.Series), {"_base": pandas.Series, **uses})


def _used(original: Call) -> Call:
    """A use of a column: tried with other kinds of values where it fails."""

    @wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> object:
        given = (*args, *kwargs.values())[:1]
        several = original.__name__ == "isin" or isinstance(next(iter(given), None), dict)
        compared = given if original.__name__ in ("__eq__", "__ne__") else ()
        compared = tuple(given[0]) if several else compared
        return self._again(lambda plain: original(plain, *args, **kwargs), *compared)

    return call
