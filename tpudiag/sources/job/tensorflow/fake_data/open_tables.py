"""Tables of pandas whose columns come into being when they are asked for.

Whatever way a script names a column, pandas looks it up; what it does not find is made, and the
look-up done again. What a column holds follows from what is done with it: compared with `train`,
some rows hold that; where a use fails, the values are of another kind.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportOptionalMemberAccess=false
from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial, wraps
from inspect import getattr_static
from types import FunctionType, MappingProxyType
from typing import Any, SupportsIndex

from tpudiag.sources.job.points import Args, Call, Kwargs, Library

from .open_values import Kind, by_user, opened, values

_MISSES = (LookupError, ValueError, TypeError, AttributeError, NameError, SyntaxError)
"""What is said of a column that is not there, or not of the kind that it is taken for."""
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
"""What `query` and `eval` say of a column that is not there."""
_UNNAMED = 4
"""Columns of numbers that a table has before any is asked for."""
_EQUAL, _EACH = ("__eq__", "__ne__"), ("map", "replace")
"""Uses that tell what some rows hold: one value, or each of a dict's."""


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
        return opened(self._table._tried(lambda: self._made()[key], [key]))

    def __setitem__(self, key: Any, value: object) -> None:
        self._made()[key] = value

    def __getattr__(self, name: str) -> object:
        member = getattr(self._made(), name)
        if not callable(member):
            return member
        return partial(self._table._used, lambda _, *a, **kw: getattr(self._made(), name)(*a, **kw))

    def __iter__(self) -> Iterator[object]:
        return iter(self._made())


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
    def _constructor(self) -> object:
        return type(self)

    @property
    def _constructor_sliced(self) -> object:
        return self._column

    def made(self, name: object, kind: Kind | None = None, equal: Args = ()) -> Any:
        """A column, as it is after one more use."""
        equal = (*self._held.get(name, (None, ()))[1], *equal)
        self._base.__setitem__(self, name, values(len(self.index), name, kind, equal))
        self._held = {**self._held, name: (kind, equal)}
        return self[name]

    def _tried(self, call: Callable[[], Any], asked: Sequence[object]) -> Any:
        """A look-up, done again with what it did not find."""
        try:
            return call()
        except _MISSES as error:
            names = _UNDEFINED.findall(str(error)) or list(_names(asked))
            if isinstance(error, IndexError) and isinstance(asked[0], tuple):
                last = asked[0][-1]
                last = max(last, default=0) if hasattr(last, "__iter__") else last
                names = _unnamed(len(self.columns), last + 1) if isinstance(last, int) else []
            tables = [self, *(each for each in asked if isinstance(each, Table))]
            missing = [(at, name) for at in tables for name in dict.fromkeys(names)]
            missing = [(at, name) for at, name in missing if name not in at.columns]
            if not missing:
                raise
            for at, name in missing:
                at.made(name)
            return call()

    def _used(self, original: Call, *args: object, **kwargs: object) -> object:
        """A call, done again with what it did not find among what it is given."""
        call = partial(original, self, *args, **kwargs)
        made: Any = self._tried(call, [*args, *kwargs.values()])
        return _Parts(self, call) if "obj" in getattr(made, "__dict__", ()) else opened(made)

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


class Column:
    """A column that learns from its uses; a row that has whatever is asked of it."""

    _base: Any
    """The Series of the job's pandas."""
    tpudiag_table: Any = None
    """The table of which it is a column as it was made, and not the script's own."""
    index: Any
    name: Any

    @property
    def _constructor(self) -> Any:
        return type(self)

    def __getitem__(self, key: object) -> object:
        try:
            return opened(self._base.__getitem__(self, key))
        except KeyError:
            if not (isinstance(key, str) and by_user()):
                raise
            row = self.name if isinstance(self.name, int) else 0
            return opened(values(row + 1, key, None, ())[row])

    def __getattr__(self, name: str) -> object:
        try:
            return self._base.__getattr__(self, name)
        except AttributeError:
            if name.startswith("_") or not by_user():
                raise
            return self[name]

    def __iter__(self) -> Iterator[object]:
        return map(opened, self._base(self))

    def tolist(self) -> list[object]:
        """Its values."""
        return list(self)

    @property
    def values(self) -> object:
        """Its values, of elastic size."""
        return opened(self._base.values.__get__(self))

    @property
    def str(self) -> object:
        """Methods of its texts."""
        return self._used(lambda plain: plain.str)

    def _holding(self, equal: Args) -> Any:
        """Plain, and some rows with each of these values."""
        plain, table = self._base(self), self.tpudiag_table
        if not equal or table is None or not all(type(value).__hash__ for value in equal):
            return plain
        if len(plain) != len(table.index) or plain.isin(equal).any():
            return plain
        return self._base(table.made(self.name, equal=equal))

    def _used(self, original: Call, *args: Any, **kwargs: Any) -> object:
        """A use of the column, which has what it is compared with; where it fails, of a kind."""
        name, table = getattr(original, "__name__", ""), self.tpudiag_table
        given: Any = next(iter((*args, *kwargs.values())), None)
        several = name == "isin" or (name in _EACH and isinstance(given, dict))
        equal: Args = tuple(given) if several else (given,) if name in _EQUAL else ()
        try:
            made = original(self._holding(equal), *args, **kwargs)
            return self._constructor(made) if type(made) is self._base else opened(made)
        except _MISSES:
            for kind in Kind if table is not None else ():
                rows = self._base(values(len(table.index), "", kind, ()), index=table.index)
                try:
                    made = original(rows.reindex(self.index), *args, **kwargs)
                except Exception:
                    continue
                table.made(self.name, kind)
                return made
            raise


@cache
def _table_class(pandas: Library) -> Any:
    """The class of open tables, of the job's pandas."""
    frame = pandas.DataFrame
    located = {name: _located(getattr_static(frame, name)) for name in ("iloc", "loc", "iat", "at")}
    own = {"_column": _open(Column, pandas.Series), "_metadata": [*frame._metadata, "_held"]}
    return _open(Table, frame, **own, **located)


def _open(own: type, base: Any, **members: object) -> Any:
    """A class of pandas each of whose uses is tried again, with what it tells, where it fails."""
    uses = {name: getattr_static(base, name) for name in dir(base) if name not in vars(own)}
    methods = {
        name: _tried(use)
        for name, use in uses.items()
        if isinstance(use, FunctionType) and (name[0] != "_" or _is_operator(name))
    }
    return type(own.__name__, (own, base), {"_base": base, **methods, **members})


def _is_operator(name: str) -> bool:
    """Whether it is one of two operands: `__add__`, `__radd__`, `__lt__`."""
    return not {name, name.replace("__r", "__")}.isdisjoint(vars(operator))


def _tried(original: Call) -> Call:
    """A method that is tried again where it fails."""

    @wraps(original)
    def call(self: Any, *args: object, **kwargs: object) -> object:
        return self._used(original, *args, **kwargs)

    return call


def _located(places: Any) -> property:
    """`iloc` and its like, which make what they do not find."""
    return property(lambda table: _Parts(table, lambda: places.__get__(table)))
