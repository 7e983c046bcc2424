"""Columns and rows of tables that are stood in for: what is done with them tells what they hold."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportOptionalMemberAccess=false
from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from functools import partial, partialmethod
from inspect import getattr_static
from types import FunctionType
from typing import Any

from tpudiag.sources.job.points import Args, Call

from .open_values import Kind, by_user, opened, values

MISSES = (LookupError, ValueError, TypeError, AttributeError, NameError, SyntaxError)
"""What is said of a column that is not there, or not of the kind that it is taken for."""
_EQUAL, _EACH = ("__eq__", "__ne__"), ("map", "replace")
"""Uses that tell what some rows hold: one value, or each of a dict's."""
_COUNTS = ("nunique", "count", "max", "min", "sum")


def open_class(own: Any, base: Any, **members: object) -> Any:
    """A class of pandas each of whose uses is tried again, with what it tells, where it fails."""
    uses = {name: getattr_static(base, name) for name in dir(base) if name not in vars(own)}
    methods = {
        name: partialmethod(own._used, use)
        for name, use in uses.items()
        if isinstance(use, FunctionType) and (name[0] != "_" or _is_operator(name))
    }
    of_open = {
        "_base": base,
        "_constructor": property(type),
        "values": property(lambda self: opened(base.values.__get__(self))),
    }
    return type(own.__name__, (own, base), {**of_open, **methods, **members})


def _is_operator(name: str) -> bool:
    """Whether it is one of two operands: `__add__`, `__radd__`, `__lt__`."""
    return not {name, name.replace("__r", "__")}.isdisjoint(vars(operator))


class Parts:
    """`iloc`, `str` and their like, or groups of rows: a use of one is one of what it is `of`."""

    def __init__(self, of: Any, part: Callable[[Any], Any]) -> None:
        self._of, self._part = of, part

    def __getitem__(self, key: Any) -> object:
        return self._of._used(lambda of, key: self._part(of)[key], key)

    def __setitem__(self, key: Any, value: object) -> None:
        self._part(self._of)[key] = value

    def __getattr__(self, name: str) -> object:
        member = self._of._used(lambda of, name: getattr(self._part(of), name), name)
        if not callable(member):
            return member
        return partial(self._of._used, lambda of, *a, **kw: getattr(self._part(of), name)(*a, **kw))

    def __iter__(self) -> Iterator[object]:
        return iter(self._part(self._of))


class Column:
    """A column that learns from its uses; a row that has whatever is asked of it."""

    _base: Any
    """The Series of the job's pandas."""
    _constructor: Any
    tpudiag_table: Any = None
    """The table of which it is a column as it was made, and not the script's own."""
    index: Any
    name: Any
    dtype: Any
    _accessors: Any

    def __getitem__(self, key: object) -> object:
        try:
            return opened(self._base.__getitem__(self, key))
        except KeyError:
            if not (isinstance(key, str) and by_user()):
                raise
            # How often a value is there, or what a group of that name has.
            if self.dtype.kind in "iuf" and isinstance(self.name, str) and len(self.index):
                return opened(self._base(self).iloc[0])
            row = self.name if isinstance(self.name, int) else 0
            return opened(values(row + 1, key, None, ())[row])

    def __getattr__(self, name: str) -> object:
        try:
            return self._base.__getattr__(self, name)
        except AttributeError:
            if name in self._accessors:  # of texts, of days
                able = self._of_some_kind(lambda plain: (getattr(plain, name), plain)[1])
                return getattr(self._constructor(able), name)
            if name.startswith("_") or not by_user():
                raise
            return self[name]

    def __iter__(self) -> Iterator[object]:
        return map(opened, self._base(self))

    def tolist(self) -> list[object]:
        """Its values."""
        return list(self)

    def _made(self, kind: Kind | None = None, equal: Args = ()) -> Any:
        """Plain, with values of a kind, some of them equal to these."""
        if self.tpudiag_table is not None and len(self.index) == len(self.tpudiag_table.index):
            return self._base(self.tpudiag_table.made(self.name, kind, equal))
        return self._base(values(len(self.index), self.name, kind, ()), self.index, name=self.name)

    def _used(self, original: Call, *args: Any, **kwargs: Any) -> object:
        """A use of the column, which has what it is compared with; where it fails, of a kind."""
        name, plain = getattr(original, "__name__", ""), self._base(self)
        given: Any = next(iter((*args, *kwargs.values())), None)
        several = name == "isin" or (name in _EACH and isinstance(given, dict))
        equal: Args = tuple(given) if several else (given,) if name in _EQUAL else ()
        hashable = all(type(value).__hash__ for value in equal)
        if equal and hashable and self.tpudiag_table is not None and not plain.isin(equal).any():
            plain = self._made(None, equal)
        try:
            made = original(plain, *args, **kwargs)
        except MISSES:
            made = self._of_some_kind(lambda at: original(at, *args, **kwargs))
        # What is counted is no cell: TensorFlow takes what has digits to index for a list.
        if name in _COUNTS and not isinstance(made, str):
            return made
        return self._constructor(made) if type(made) is self._base else opened(made)

    def _of_some_kind(self, use: Callable[[Any], Any]) -> Any:
        """A use, by the first kind of values that does not fail; else as it failed."""
        for kind in Kind:
            with contextlib.suppress(*MISSES):
                return use(self._made(kind))
        return use(self._made())
