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

from .open_arrays import opened
from .open_cells import Kind, by_user, cell
from .open_columns import Indexer, OpenTable, column_class, indexers, learner, values

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
        table._make(name)
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


class _Groups(Indexer):
    """Groups of rows, of which other columns may be asked."""

    def __getattr__(self, name: str) -> object:
        member = getattr(self._made(), name)
        if not callable(member):
            return member
        return lambda *args, **kwargs: self._owner._tried(
            lambda: getattr(self._made(), name)(*args, **kwargs), [*args, *kwargs.values()]
        )

    def __iter__(self) -> Iterator[object]:
        return iter(self._made())


class _Open(OpenTable):
    """What pandas does not find in a table is made."""

    _base: Any
    """The DataFrame of the job's pandas."""
    _column: Any
    _equal: Mapping[object, tuple[object, ...]] = MappingProxyType({})
    """What columns were compared with: some rows hold that."""
    _kinds: Mapping[object, Kind | None] = MappingProxyType({})
    """What columns were found to hold."""

    @property
    def _constructor(self) -> object:
        return type(self)

    @property
    def _constructor_sliced(self) -> object:
        return self._column

    def _make(self, name: object, kind: Kind | None = None, equal: tuple[object, ...] = ()) -> None:
        equal = (*self._equal.get(name, ()), *equal)
        self._equal = {**self._equal, name: equal}
        self._kinds = {**self._kinds, name: kind}
        made = values(self, name, kind, equal)
        self._base.__setitem__(self, name, made)

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
                at._make(name)
            return call()

    def __getitem__(self, key: object) -> object:
        return self._tried(lambda: self._base.__getitem__(self, key), [key])

    def __setitem__(self, key: object, value: object) -> None:
        self._base.__setitem__(self, key, value)
        self._own = self._own.union(_names(key))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) or bool(self._base.__contains__(self, key))

    def __getattribute__(self, name: str) -> object:
        # pandas finds a column that is there without asking `__getitem__`.
        if name[0] != "_" and not hasattr(type(self), name) and by_user():
            return self[name]
        return object.__getattribute__(self, name)

    def groupby(self, *args: object, **kwargs: object) -> object:
        """Groups of rows, of which other columns may be asked."""
        make = partial(self._base.groupby, self, *args, **kwargs)
        self._tried(make, [*args, *kwargs.values()])
        return _Groups(self, make)

    def itertuples(self, index: bool = True, name: str | None = "Pandas") -> Iterator[object]:
        """Rows that have whatever column is asked of them."""
        if name is None:
            yield from self._base.itertuples(self, index, name)
            return
        for label, row in self._base.iterrows(self):
            row["Index"] = label
            yield row

    def _looked_up(self, call: Callable[[], Any], key: Any) -> Any:
        """What an indexer gives: one number, which its column learns from, or more."""
        found = self._tried(call, [key])
        one = type(found).__name__ == "int64" and isinstance(key, tuple)
        if not one or key[-1] in self._own or not by_user():
            return found
        return cell(int(found), learner(self, key[-1], key[0]))

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
    methods |= indexers(frame)
    named = {"_base": frame, "_column": column, "_metadata": [*frame._metadata, "_own"]}
    return type("Table", (_Open, frame), {**named, **methods})


def _completed(original: Call) -> Call:
    """A method that makes what it does not find among what it is asked for."""

    @wraps(original)
    def call(self: Any, *args: object, **kwargs: object) -> object:
        asked = [*args, *kwargs.values()]
        return self._tried(lambda: original(self, *args, **kwargs), asked)

    return call
