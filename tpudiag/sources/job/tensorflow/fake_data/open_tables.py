"""Tables of pandas whose columns come into being when they are asked for.

Whatever way a script names a column, pandas looks it up; what it does not find is made, and the
look-up done again. What a column holds follows from what is done with it: compared with `train`,
some rows hold that; divided, they are numbers. A table begins with a few columns that nobody named.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from types import FunctionType
from typing import Any

from . import open_arrays
from .column_values import Kind, Use, by_name
from .open_columns import Known, by_user, column_class

UNNAMED = 4
"""Columns of numbers that a table has before any is asked for."""
_LOOKUPS = (KeyError, ValueError, IndexError, NameError)
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
"""What `query` and `eval` say of a column that is not there."""


class OpenTables:
    """The classes of open tables, made of the job's own pandas."""

    def __init__(self, pandas: Any) -> None:
        self._pandas = pandas
        self.column = column_class(pandas)
        self.table = _table_class(pandas, self.column)

    def make(self, rows: int, options: dict[str, Any]) -> Any:
        """A table as pandas was told to read it."""
        known = Known(rows)
        table = self.table(
            index=self._pandas.RangeIndex(min(int(options.get("nrows") or rows), rows))
        )
        table._known = known
        begin = range(UNNAMED) if options.get("header", 0) is None else _unnamed(0, UNNAMED)
        for name in options.get("names") or _listed(options.get("usecols")) or begin:
            table._make(name)
        for name in _listed(options.get("parse_dates")):
            known.uses[name] = Use(Kind.DAY)
            table[name] = self._pandas.to_datetime(known.values(name, table.index))
        for name, dtype in _items(options.get("dtype")):
            table[name] = table[name].astype(dtype)
        index = options.get("index_col")
        if isinstance(index, int) and not isinstance(index, bool):
            index = table.columns[index]
        table = table.set_index(index) if isinstance(index, str) else table
        return iter([table]) if options.get("chunksize") or options.get("iterator") else table


def _listed(given: Any) -> list[Any]:
    """The columns that an option lists."""
    return list(given) if isinstance(given, (list, tuple)) else []


def _items(given: Any) -> Iterator[tuple[Any, Any]]:
    """What an option says of columns by their names."""
    yield from given.items() if isinstance(given, dict) else ()


def _unnamed(first: int, last: int) -> list[str]:
    """Names of columns that nobody has named."""
    return [f"column_{number}" for number in range(first, last)]


def _names(given: Any) -> Iterator[str]:
    """Texts among arguments, which may name columns."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, slice):
        yield from _names([given.start, given.stop])
    elif isinstance(given, dict):
        yield from _names(list(given))
        yield from _names(list(given.values()))
    elif isinstance(given, (list, tuple, set)):
        for each in given:
            yield from _names(each)
    elif type(given).__name__ == "Index":
        yield from _names(list(given))


def _is_list(given: Any) -> bool:
    return isinstance(given, list)


class _Lookup:
    """`table.loc` and its like, groups of rows: what is not found is made, and asked again."""

    def __init__(self, table: Any, made: Callable[[Any], Any]) -> None:
        self._table, self._made = table, made

    def __getitem__(self, key: Any) -> Any:
        table = self._table
        try:
            return self._made(table)[key]
        except _LOOKUPS as error:
            if not table._complete(key, error):
                raise
            return self._made(table)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._made(self._table)[key] = value

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._made(self._table), name)
        if not callable(member):
            return member

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return member(*args, **kwargs)
            except _LOOKUPS as error:
                if not self._table._complete([*args, *kwargs.values()], error):
                    raise
                return getattr(self._made(self._table), name)(*args, **kwargs)

        return call

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made(self._table))

    def __len__(self) -> int:
        return len(self._made(self._table))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._made(self._table)(*args, **kwargs)


class OpenTable:
    """Columns are made when they are asked for."""

    _base: Any
    """The DataFrame of the job's pandas."""
    _column: Any
    columns: Any
    index: Any
    iterrows: Any
    _known: Any = None
    _own: frozenset[Any] = frozenset()
    """Columns that the script has written."""

    @property
    def _constructor(self) -> Any:
        return type(self)

    @property
    def _constructor_sliced(self) -> Any:
        return self._column

    def _make(self, name: Any) -> None:
        if self._known is None:
            self._known = Known(len(self.index))
        self._base.__setitem__(self, name, self._known.values(name, self.index))

    def _renew(self, name: Any) -> None:
        """What a column holds was told by a use of it."""
        self._make(name)

    def _complete(self, asked: Any, error: Exception) -> bool:
        """Make what was asked for and is not there; False for nothing."""
        undefined = _UNDEFINED.findall(str(error)) if isinstance(error, NameError) else None
        names = dict.fromkeys(_names(asked) if undefined is None else undefined)
        missing = [name for name in names if name not in self.columns]
        if not missing and isinstance(error, IndexError) and isinstance(asked, tuple):
            last = asked[-1]
            most = max(last, default=0) if hasattr(last, "__iter__") else last
            known = len(self.columns)
            missing = _unnamed(known, most + 1) if isinstance(most, int) else []
        for name in missing:
            self._make(name)
        others = [each for each in asked if isinstance(each, OpenTable)] if _is_list(asked) else []
        also = [other for other in others if other._complete(list(names), KeyError())]
        return bool(missing or also)

    def groupby(self, *args: Any, **kwargs: Any) -> Any:
        """Groups of rows, of which other columns may be asked."""
        self._complete([*args, *kwargs.values()], KeyError())
        return _Lookup(self, lambda table: self._base.groupby(table, *args, **kwargs))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (str, int)) and not isinstance(key, bool):
            if key not in self.columns:
                self._make(key)
        else:
            self._complete(key if not isinstance(key, slice) else (), KeyError())
        found = self._base.__getitem__(self, key)
        known: Any = self._known if key.__hash__ is not None else None
        if known is not None and isinstance(found, self._column) and key in known.uses:
            found._known = known
            found._table = self if key not in self._own else None
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self._complete([key] if isinstance(key, list) else (), KeyError())
        self._base.__setitem__(self, key, value)
        self._own = self._own.union(_names(key))

    def __contains__(self, key: Any) -> bool:
        if isinstance(key, str) and key not in self.columns:
            self._make(key)
        return bool(self._base.__contains__(self, key))

    def __getattr__(self, name: str) -> Any:
        try:
            return self._base.__getattr__(self, name)
        except AttributeError:
            if name.startswith("_") or not by_user():
                raise
            return self[name]

    def __getattribute__(self, name: str) -> Any:
        # pandas finds a column that is there without asking `__getitem__`.
        if name[0] != "_" and not hasattr(type(self), name) and by_user():
            return self[name]
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "columns" and len(value) != len(self.columns):
            for left in self.columns[len(value) :]:
                self._base.__delitem__(self, left)
            for more in _unnamed(len(self.columns), len(value)):
                self._make(more)
        if name == "columns" and self._known is not None:
            for old, new in zip(self.columns, value, strict=False):
                self._known.uses.setdefault(new, self._known.uses.get(old) or Use(by_name(new)))
        self._base.__setattr__(self, name, value)

    @property
    def values(self) -> Any:
        """All numbers, of elastic size."""
        return open_arrays.opened(self._base.values.__get__(self))

    def to_numpy(self, *args: Any, **kwargs: Any) -> Any:
        """All numbers, of elastic size."""
        return open_arrays.opened(self._base.to_numpy(self, *args, **kwargs))

    def itertuples(self, index: bool = True, name: str | None = "Pandas") -> Any:
        """Rows that have whatever column is asked of them."""
        if name is None:
            yield from self._base.itertuples(self, index, name)
            return
        for label, row in self.iterrows():
            row["Index"] = label
            yield row

    @property
    def loc(self) -> Any:
        """Rows and columns by their names."""
        return _Lookup(self, self._base.loc.__get__)

    @property
    def at(self) -> Any:
        """A value by its names."""
        return _Lookup(self, self._base.at.__get__)

    @property
    def iloc(self) -> Any:
        """Rows and columns by their numbers."""
        return _Lookup(self, self._base.iloc.__get__)


def _table_class(pandas: Any, column: Any) -> Any:
    """The class of open tables, of the job's pandas."""
    base = pandas.DataFrame
    names = {"_base": base, "_column": column, "_metadata": [*base._metadata, "_known", "_own"]}
    members = {name: _static(base, name) for name in dir(base) if name[0] != "_"}
    methods = {
        name: _completed(member)
        for name, member in members.items()
        if isinstance(member, FunctionType) and name not in vars(OpenTable)
    }
    return type("Table", (OpenTable, base), {**names, **methods})


def _completed(original: Any) -> Any:
    """A method that makes what it does not find among what it is asked for."""

    @wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except _LOOKUPS as error:
            if not self._complete([*args, *kwargs.values()], error):
                raise
            return original(self, *args, **kwargs)

    return call


def _static(class_: Any, name: str) -> Any:
    """A member as its class holds it."""
    return next((vars(each)[name] for each in class_.__mro__ if name in vars(each)), None)
