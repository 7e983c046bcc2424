"""Columns, and rows, of tables that are stood in for: what they hold follows from their uses."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Sized
from datetime import date, timedelta
from functools import wraps
from typing import Any, Protocol

from tpudiag.sources.job.points import Call, Library, user_lines

from .open_arrays import opened
from .text_files import WORDS

_MISUSES = (TypeError, ValueError, AttributeError, KeyError, SyntaxError)
_PARTS = 4
"""A value that a column is compared with has every fourth row."""
_FIRST_DAY = date(1990, 1, 1)
_USES = (
    "apply", "astype", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__",
    "__truediv__", "__lt__", "__le__", "__gt__", "__ge__", "mean", "std", "sum",
)  # fmt: skip
"""What fails on a column of another kind."""
_NUMBERS, _NAMES, _TEXTS = 0, 1, 2
_MADE: tuple[Callable[[int], object], ...] = (
    lambda row: row % 2,
    lambda row: f"file-{row:05d}",
    lambda row: " ".join(WORDS.split()[row % 5 :]),
    lambda row: str(row % 2),
    # Each day twice, as other columns turn: what is followed over days has all of them.
    lambda row: (_FIRST_DAY + timedelta(row // 2)).isoformat(),
)
_NAMED = (
    (_TEXTS, re.compile(r"text|comment|content|sentence|review|tweet|question|title", re.I)),
    (_NAMES, re.compile(r"(^|_)(id|uid|name|file|filename|path|image|img|url)(_|$)|_?id$", re.I)),
)
"""What a column mostly holds that is called so: no use tells it of one that is handed on whole."""


def kind_of(name: object) -> int:
    """What a column mostly holds that is called so."""
    return next((kind for kind, named in _NAMED if named.search(str(name))), _NUMBERS)


def values(name: object, rows: int, kind: int | None, equal: tuple[object, ...]) -> list[object]:
    """What a column of that name holds; some rows are `equal` to what it was compared with."""
    made, parts = _MADE[kind_of(name) if kind is None else kind], max(_PARTS, len(equal))
    turns = (row % parts for row in range(rows))
    return [equal[at] if at < len(equal) else made(row) for row, at in enumerate(turns)]


def by_user() -> bool:
    """Whether the user's own line asks, not a library that looks what it was given."""
    return user_lines.direct_caller() is not None


class _Plain(Protocol):
    """A column as the job's pandas has it."""

    index: Sized
    any: Callable[[], bool]
    isin: Callable[[object], _Plain]
    map: Call
    reindex: Callable[[object], _Plain]
    str: object

    def __len__(self) -> int: ...


class _Series(Protocol):
    """The class Series of the job's pandas."""

    values: property
    __getattr__: Call
    __getitem__: Call

    def __call__(self, values: object, index: object = None) -> _Plain: ...


class _Column:
    """A column that learns from its uses; a row that has whatever column is asked of it."""

    _base: _Series
    """The Series of the job's pandas."""
    _table: Any
    """The table of which it is a column as it was made, and not the script's own."""
    index: object
    name: object

    @property
    def _constructor(self) -> object:
        return type(self)

    def __getitem__(self, key: object) -> object:
        try:
            return self._base.__getitem__(self, key)
        except KeyError:
            if self._table is not None or type(key).__name__ != "str":
                raise
            return _MADE[kind_of(key)](self.name if isinstance(self.name, int) else 0)

    def __getattr__(self, name: str) -> object:
        try:
            return self._base.__getattr__(self, name)
        except AttributeError:
            if self._table is not None or name.startswith("_") or not by_user():
                raise
            return self[name]

    @property
    def values(self) -> object:
        """Its values, of elastic size."""
        given = self._base.values.__get__(self)
        return opened(given) if type(given).__name__ == "ndarray" else given

    @property
    def str(self) -> object:
        """Methods of its texts."""
        return self._again(lambda plain: plain.str)

    def __eq__(self, other: object) -> Any:
        return self._holding([other]) == other

    def __ne__(self, other: object) -> Any:
        return self._holding([other]) != other

    __hash__ = object.__hash__

    def isin(self, values: Iterable[object]) -> object:
        """Which are among these."""
        return self._holding(list(values)).isin(values)

    def map(self, arg: object, *args: object, **kwargs: object) -> object:
        """Each value's; of a dict, whose keys some rows hold."""
        if isinstance(arg, dict):
            return self._holding(list(arg)).map(arg, *args, **kwargs)
        return self._again(lambda plain: plain.map(arg, *args, **kwargs))

    def _holding(self, values: Sequence[object]) -> _Plain:
        """Plain, and some rows with each of these values."""
        plain, table = self._base(self), self._table
        if table is None or not all(type(value).__hash__ for value in values):
            return plain
        if len(plain) != len(table.index) or plain.isin(values).any():
            return plain
        table._make(self.name, None, tuple(values))
        return self._base(table[self.name])

    def _again(self, use: Callable[[_Plain], object]) -> object:
        """A use of the column, of another kind where it fails."""
        try:
            return use(self._base(self))
        except _MISUSES:
            table = self._table
            if table is None:
                raise
            for kind, made in enumerate(_MADE):
                rows = self._base([made(row) for row in range(len(table.index))], index=table.index)
                try:
                    result = use(rows.reindex(self.index))
                except Exception:
                    continue
                table._make(self.name, kind)
                return result
            raise


def column_class(pandas: Library) -> type:
    """The class of open columns, of the job's pandas."""
    uses = {name: _used(getattr(pandas.Series, name)) for name in _USES}
    own = {"_base": pandas.Series, "_table": None}
    return type("Column", (_Column, pandas.Series), {**own, **uses})


def _used(original: Call) -> Call:
    """A use of a column: tried with other kinds of values where it fails."""

    @wraps(original)
    def call(self: Any, *args: object, **kwargs: object) -> object:
        return self._again(lambda plain: original(plain, *args, **kwargs))

    return call
