"""Columns, and rows, of tables that are stood in for: what they hold follows from their uses."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import wraps
from typing import Any

from tpudiag.sources.job.points import Call, Kwargs, Library

from .open_arrays import opened
from .open_cells import Kind, Learn, by_user, cell
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


def kind_of(name: object) -> Kind:
    """What a column mostly holds that is called so."""
    return next((kind for kind, named in _NAMED if named.search(str(name))), Kind.NUMBERS)


def learner(table: Any, name: object, row: object) -> Learn:
    """Lets a column learn from a row's value; without a table, only the value does."""

    def learn(kind: Kind) -> object:
        if table is not None and table._kinds.get(name) is not kind:
            table._make(name, kind)
        return cell(_MADE[kind](row if isinstance(row, int) else 0), learn)

    return learn


def values(table: Any, name: object, kind: Kind | None, equal: tuple[object, ...]) -> list[object]:
    """What a column of that name holds; some rows are `equal` to what it was compared with."""
    kind, parts = kind_of(name) if kind is None else kind, max(_PARTS, len(equal))
    turns = [row % parts for row in range(len(table.index))]
    made = [equal[at] if at < len(equal) else _MADE[kind](row) for row, at in enumerate(turns)]
    if kind is Kind.NUMBERS:
        return made
    return [cell(each, learner(table, name, row)) for row, each in enumerate(made)]


class OpenTable:
    """A table whose columns are made when they are asked for."""

    columns: Any
    index: Any
    _own: frozenset[object] = frozenset()
    """Columns that the script has written."""


class Indexer:
    """`iloc` and its like, of a table or a column: its owner sees what is looked up."""

    def __init__(self, owner: Any, made: Callable[[], Any]) -> None:
        self._owner, self._made = owner, made

    def __getitem__(self, key: Any) -> object:
        return self._owner._looked_up(lambda: self._made()[key], key)

    def __setitem__(self, key: Any, value: object) -> None:
        self._made()[key] = value

    def __getattr__(self, name: str) -> object:
        return getattr(self._made(), name)


def indexers(class_: Any) -> Kwargs:
    """Those of a table's or a column's class."""

    def of(name: str) -> property:
        places = getattr(class_, name)
        return property(lambda owner: Indexer(owner, lambda: places.__get__(owner)))

    return {name: of(name) for name in ("iloc", "loc", "iat", "at")}


class _Column:
    """A column that learns from its uses; a row that has whatever column is asked of it."""

    _base: Any
    """The Series of the job's pandas."""
    _table: Any = None
    """The table of which it is a column as it was made, and not the script's own."""
    tpudiag_row_of: Any = None
    """The table of which it is a row."""
    index: Any
    name: Any

    @property
    def _constructor(self) -> object:
        return type(self)

    def __finalize__(self, other: Any, *args: object, **kwargs: object) -> object:
        """What pandas makes it from: a table, whose column or row it may be."""
        table: Any = other
        if isinstance(other, OpenTable):
            if self.index.equals(other.columns):
                self.tpudiag_row_of = other
            elif self.name in table.columns and self.name not in table._own:
                self._table = other
        return self._base.__finalize__(self, other, *args, **kwargs)

    def __getitem__(self, key: object) -> object:
        try:
            return self._learning(self._base.__getitem__(self, key), key)
        except KeyError:
            if self._table is not None or type(key).__name__ != "str":
                raise
            return learner(self.tpudiag_row_of, key, self.name)(kind_of(key))

    def _looked_up(self, call: Callable[[], object], key: object) -> object:
        return self._learning(call(), key)

    def _learning(self, found: Any, key: object) -> Any:
        """A number of a column that was made, which the column learns from."""
        of_row = self._table is None
        table, name, row = (
            (self.tpudiag_row_of, key, self.name) if of_row else (self._table, self.name, key)
        )
        if table is None or name in table._own or type(found).__name__ not in ("int", "int64"):
            return found
        return cell(int(found), learner(table, name, row)) if by_user() else found

    def __iter__(self) -> Iterator[object]:
        plain = iter(self._base(self))
        return (self._learning(each, row) for row, each in enumerate(plain))

    def tolist(self) -> list[object]:
        """Its values."""
        return list(self) if by_user() else self._base(self).tolist()

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
        if type(given).__name__ != "ndarray":
            return given
        return opened(given, self._learning if self._table is not None else None)

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

    def _holding(self, values: Sequence[object]) -> Any:
        """Plain, and some rows with each of these values."""
        plain, table = self._base(self), self._table
        if table is None or not all(type(value).__hash__ for value in values):
            return plain
        if len(plain) != len(table.index) or plain.isin(values).any():
            return plain
        table._make(self.name, None, tuple(values))
        return self._base(table[self.name])

    def _again(self, use: Callable[[Any], object]) -> object:
        """A use of the column, of another kind where it fails."""
        try:
            return use(self._base(self))
        except _MISUSES:
            table = self._table
            if table is None:
                raise
            for kind in Kind:
                rows = self._base(
                    [_MADE[kind](row) for row in range(len(table.index))], index=table.index
                )
                try:
                    result = use(rows.reindex(self.index))
                except Exception:
                    continue
                table._make(self.name, kind)
                return result
            raise


def column_class(pandas: Library) -> type:
    """The class of open columns, of the job's pandas."""
    uses: Kwargs = {name: _used(getattr(pandas.Series, name)) for name in _USES}
    own = {"_base": pandas.Series, **indexers(pandas.Series), **uses}
    return type("Column", (_Column, pandas.Series), own)


def _used(original: Call) -> Call:
    """A use of a column: tried with other kinds of values where it fails."""

    @wraps(original)
    def call(self: Any, *args: object, **kwargs: object) -> object:
        return self._again(lambda plain: original(plain, *args, **kwargs))

    return call
