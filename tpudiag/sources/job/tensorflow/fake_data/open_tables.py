"""Tables of pandas whose columns come into being when they are asked for.

Whatever way a script names a column, pandas looks it up; what it does not find is made, and the
look-up done again. What a column holds follows from what is done with it: compared with `train`,
some rows hold that; where a use fails, the values are of another kind.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from inspect import getattr_static
from types import MappingProxyType
from typing import Any, SupportsIndex

from tpudiag.sources.job.points import Args, Call, Kwargs, Library

from .open_columns import MISSES, Column, Parts, open_class
from .open_values import Kind, by_user, opened, values

_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
"""What `query` and `eval` say of a column that is not there."""
_WITHOUT_ERROR = ("filter", "reindex", "get")
"""Uses that say nothing of a column that is not there."""
_UNNAMED = 4
"""Columns of numbers that a table has before any is asked for."""


def make(pandas: Library, rows: int, options: Kwargs) -> object:
    """A table as pandas was told to read it."""
    asked = options.get("nrows")
    rows = min(int(asked), rows) if isinstance(asked, SupportsIndex) and asked else rows
    table = _table_class(pandas)(index=pandas.RangeIndex(rows))
    columns = options.get("names") or options.get("usecols")
    begin = range(_UNNAMED) if options.get("header", 0) is None else _unnamed(0, _UNNAMED)
    for name in columns if isinstance(columns, list) else begin:
        table.made(name)
    days = options.get("parse_dates")
    for name in days if isinstance(days, list) else ():
        table.made(name, Kind.DAYS)
    index = options.get("index_col")
    table = table.set_index(index) if isinstance(index, str) else table
    return iter([table]) if options.get("chunksize") or options.get("iterator") else table


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
        yield from _names([*given, *given.values()])
    elif isinstance(given, (list, tuple, set)) or type(given).__name__ == "Index":
        for each in given:
            yield from _names(each)


class Table:
    """What pandas does not find in a table is made."""

    columns: Any
    index: Any
    _base: Any
    """The DataFrame of the job's pandas."""
    _column: Any
    _held: Mapping[object, tuple[Kind | None, Args]] = MappingProxyType({})
    """Of columns that were made: their kind, and what they were compared with."""

    @property
    def _constructor_sliced(self) -> object:
        return self._column

    def made(self, name: object, kind: Kind | None = None, equal: Args = ()) -> Any:
        """A column, as it is after one more use."""
        equal = (*self._held.get(name, (None, ()))[1], *equal)
        vars(self)["_is_copy"] = None  # else pandas warns the user of what we do
        self._base.__setitem__(self, name, values(len(self.index), name, kind, equal))
        self._held = {**self._held, name: (kind, equal)}
        return self[name]

    def _tried(self, call: Callable[[], Any], asked: Sequence[object]) -> Any:
        """A look-up, done again with what it did not find, or with values of another kind."""
        tables = [self, *(each for each in asked if isinstance(each, Table))]
        while True:
            try:
                return call()
            except MISSES as error:
                names = self._told(error, asked)
            missing = [(at, name) for at in tables for name in names if name not in at.columns]
            for at, name in missing:
                at.made(name)
            if not missing:
                break
        made = [(at, name) for at in tables for name in names or at.columns if name in at._held]
        for kind in (*Kind, None) if made else ():
            for at, name in made:
                at.made(name, kind)
            with contextlib.suppress(*MISSES):
                return call()
        return call()

    def _told(self, error: Exception, asked: Sequence[object]) -> list[str]:
        """The columns that an error names, else all that may be meant."""
        if isinstance(error, IndexError) and isinstance(asked[0], tuple):
            last = asked[0][-1]
            last = max(last, default=0) if hasattr(last, "__iter__") else last
            return _unnamed(len(self.columns), last + 1) if isinstance(last, int) else []
        names = _UNDEFINED.findall(str(error)) or list(dict.fromkeys(_names(asked)))
        return [name for name in names if repr(name) in str(error)] or names

    def _used(self, original: Call, *args: object, **kwargs: object) -> object:
        """A call, done again with what it did not find among what it is given."""
        if getattr(original, "__name__", "") in _WITHOUT_ERROR:
            for name in (
                each for each in _names([*args, *kwargs.values()]) if each not in self.columns
            ):
                self.made(name)
        made: Any = self._tried(lambda: original(self, *args, **kwargs), [*args, *kwargs.values()])
        if "obj" in getattr(made, "__dict__", ()):  # groups of rows
            return Parts(self, lambda table: original(table, *args, **kwargs))
        return opened(made)

    def __getitem__(self, key: object) -> object:
        found = self._tried(lambda: self._base.__getitem__(self, key), [key])
        if isinstance(found, Column) and key in self._held:
            found.tpudiag_table = self
        return found

    def __setitem__(self, key: object, value: object) -> None:
        self._base.__setitem__(self, key, value)
        names = set(_names(key))
        self._held = {name: held for name, held in self._held.items() if name not in names}

    def merge(self, right: object, *args: object, **options: object) -> object:
        """Beside rows of another table, in which each key is once: else rows multiply."""

        def once(table: object, right: object, *args: object, **options: Any) -> object:
            made = self._base.merge(table, right, *args, **{"validate": "m:1", **options})
            if made.empty:
                raise LookupError("keys are of different kinds")
            return made

        if isinstance(right, Table):
            with contextlib.suppress(*MISSES):
                return self._used(once, right, *args, **options)
        return self._used(self._base.merge, right, *args, **options)

    def sample(self, n: int | None = None, *args: Any, **options: Any) -> object:
        """Rows by lot, some of them more than once where more are asked for than there are."""
        if n is not None and n > len(self.index):
            options["replace"] = True
        return self._base.sample(self, n, *args, **options)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) or bool(self._base.__contains__(self, key))

    def __getattr__(self, name: str) -> object:
        if name[0] == "_" or not by_user():
            return self._base.__getattr__(self, name)
        return self[name]

    def itertuples(self, index: bool = True, name: str | None = "Pandas") -> Iterator[object]:
        """Rows that have whatever column is asked of them."""
        if name is None:
            yield from self._base.itertuples(self, index, name)
            return
        for label, row in self._base.iterrows(self):
            row["Index"] = label
            yield row


@cache
def _table_class(pandas: Library) -> Any:
    """The class of open tables, of the job's pandas."""
    frame = pandas.DataFrame
    located = {name: _located(getattr_static(frame, name)) for name in ("iloc", "loc", "iat", "at")}
    own = {"_column": open_class(Column, pandas.Series), "_metadata": [*frame._metadata, "_held"]}
    return open_class(Table, frame, **own, **located)


def _located(places: Any) -> property:
    """`iloc` and its like, which make what they do not find."""
    return property(lambda table: Parts(table, places.__get__))
