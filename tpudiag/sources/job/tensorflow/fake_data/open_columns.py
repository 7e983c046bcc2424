"""Columns and rows of tables that are stood in for: what is done with them tells what they hold."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportOptionalMemberAccess=false
from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import wraps
from inspect import getattr_static
from types import FunctionType
from typing import Any

from tpudiag.sources.job.points import Args, Call

from .open_values import by_user, opened, values

MISSES = (LookupError, ValueError, TypeError, AttributeError, NameError, SyntaxError)
"""What is said of a column that is not there, or not of the kind that it is taken for."""
_EQUAL, _EACH = ("__eq__", "__ne__"), ("map", "replace")
"""Uses that tell what some rows hold: one value, or each of a dict's."""


def open_class(own: type, base: Any, **members: object) -> Any:
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

    @property
    def dt(self) -> object:
        """What its days have."""
        return self._used(
            lambda days: (days if days.dtype.kind in "mM" else days.astype("datetime64[ns]")).dt
        )

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
        except MISSES:
            if table is None:
                raise

            def of_table() -> Any:
                rows = self._base(table[self.name]).reindex(self.index)
                return original(rows, *args, **kwargs)

            made = table.of_kind(of_table, [(table, self.name)])
        return self._constructor(made) if type(made) is self._base else opened(made)
