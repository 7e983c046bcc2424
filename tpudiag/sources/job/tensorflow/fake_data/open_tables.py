"""Tables of pandas whose columns come into being when they are asked for.

Whatever way a script names a column, pandas looks it up; what it does not find is made, and the
look-up done again. What a column holds follows from what is done with it: compared with `train`,
some rows hold that; where a use fails, the values are of another kind.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial, wraps
from inspect import getattr_static
from types import FunctionType, MappingProxyType
from typing import Any, SupportsIndex

from tpudiag.sources.job.points import Call, Kwargs, Library

from .open_arrays import by_user, number, opened
from .open_columns import Column, Kind, column_class, values

_LOOKUPS = (KeyError, ValueError, IndexError, AttributeError, NameError)
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
"""What `query` and `eval` say of a column that is not there."""
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
    return iter([table]) if options.get("chunksize") or options.get("iterator") else table


def _unnamed(first: int, last: int) -> list[str]:
    """Names of columns that nobody has named."""
    return [f"column_{number}" for number in range(first, last)]


def _names(given: object) -> Iterator[str]:
    """Texts among arguments, which may name columns."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, slice):
        yield from _names([given.start, given.stop])
    elif isinstance(given, dict):
        yield from _names([*given, *given.values()])
    elif isinstance(given, Iterable) and (
        isinstance(given, (list, tuple, set)) or type(given).__name__ == "Index"
    ):
        for each in given:
            yield from _names(each)


class _Parts:
    """`iloc` and its like, or groups of rows: other columns may be asked of what they are of."""

    def __init__(self, table: Any, made: Callable[[], Any]) -> None:
        self._table, self._made = table, made

    def __getitem__(self, key: Any) -> object:
        return number(self._table._tried(lambda: self._made()[key], [key]))

    def __setitem__(self, key: Any, value: object) -> None:
        self._made()[key] = value

    def __getattr__(self, name: str) -> object:
        member = getattr(self._made(), name)

        def again(*args: object, **kwargs: object) -> object:
            return getattr(self._made(), name)(*args, **kwargs)

        return partial(self._table._called, again) if callable(member) else member

    def __iter__(self) -> Iterator[object]:
        return iter(self._made())


class _Open:
    """What pandas does not find in a table is made."""

    columns: Any
    index: Any
    _base: Any
    """The DataFrame of the job's pandas."""
    _column: Any
    _held: Mapping[object, tuple[Kind | None, tuple[object, ...]]] = MappingProxyType({})
    """Of columns that were made: their kind, and what they were compared with."""

    @property
    def _constructor(self) -> object:
        return type(self)

    @property
    def _constructor_sliced(self) -> object:
        return self._column

    def made(self, name: object, kind: Kind | None = None, equal: tuple[object, ...] = ()) -> Any:
        """A column, as it is after one more use."""
        equal = (*self._held.get(name, (None, ()))[1], *equal)
        self._base.__setitem__(self, name, values(len(self.index), name, kind, equal))
        self._held = {**self._held, name: (kind, equal)}
        return self[name]

    def _tried(self, call: Callable[[], Any], asked: Sequence[object]) -> Any:
        """A look-up, done again with what it did not find."""
        try:
            return call()
        except _LOOKUPS as error:
            names = _UNDEFINED.findall(str(error)) or list(_names(asked))
            if isinstance(error, IndexError) and isinstance(asked[0], tuple):
                last = asked[0][-1]
                last = max(last, default=0) if hasattr(last, "__iter__") else last
                names = _unnamed(len(self.columns), last + 1) if isinstance(last, int) else []
            tables = [self, *(each for each in asked if isinstance(each, _Open))]
            missing = [(at, name) for at in tables for name in dict.fromkeys(names)]
            missing = [(at, name) for at, name in missing if name not in at.columns]
            if not missing:
                raise
            for at, name in missing:
                at.made(name)
            return call()

    def _called(self, call: Call, *args: object, **kwargs: object) -> object:
        """A call, done again with what it did not find among what it is given."""
        return self._tried(lambda: call(*args, **kwargs), [*args, *kwargs.values()])

    def __getitem__(self, key: object) -> object:
        found = self._tried(lambda: self._base.__getitem__(self, key), [key])
        if isinstance(found, Column) and key in self._held:
            found.tpudiag_table = self
        return found

    def __setitem__(self, key: object, value: object) -> None:
        self._base.__setitem__(self, key, value)
        names = set(_names(key))
        self._held = {name: held for name, held in self._held.items() if name not in names}

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) or bool(self._base.__contains__(self, key))

    def __getattr__(self, name: str) -> object:
        if name[0] == "_" or not by_user():
            return self._base.__getattr__(self, name)
        return self[name]

    def groupby(self, *args: object, **kwargs: object) -> object:
        """Groups of rows, of which other columns may be asked."""
        self._called(partial(self._base.groupby, self), *args, **kwargs)
        return _Parts(self, partial(self._base.groupby, self, *args, **kwargs))

    def itertuples(self, index: bool = True, name: str | None = "Pandas") -> Iterator[object]:
        """Rows that have whatever column is asked of them."""
        if name is None:
            yield from self._base.itertuples(self, index, name)
            return
        for label, row in self._base.iterrows(self):
            row["Index"] = label
            yield row

    @property
    def values(self) -> object:
        """All numbers, of elastic size."""
        return opened(self._base.values.__get__(self))


@cache
def _table_class(pandas: Library) -> Any:
    """The class of open tables, of the job's pandas."""
    frame, column = pandas.DataFrame, column_class(pandas)
    members = {name: getattr_static(frame, name) for name in dir(frame) if name[0] != "_"}
    methods: Kwargs = {
        name: _completed(member)
        for name, member in members.items()
        if isinstance(member, FunctionType) and name not in vars(_Open)
    }
    methods |= {name: _located(members[name]) for name in ("iloc", "loc", "iat", "at")}
    named = {"_base": frame, "_column": column, "_metadata": [*frame._metadata, "_held"]}
    return type("Table", (_Open, frame), {**named, **methods})


def _located(places: Any) -> property:
    """`iloc` and its like, which make what they do not find."""
    return property(lambda table: _Parts(table, lambda: places.__get__(table)))


def _completed(original: Call) -> Call:
    """A method that makes what it does not find among what it is asked for."""

    @wraps(original)
    def call(self: Any, *args: object, **kwargs: object) -> object:
        return self._called(partial(original, self), *args, **kwargs)

    return call
