"""Columns and rows of tables that are stood in for: what is done with them tells what they hold."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportOptionalMemberAccess=false
from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial, wraps
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
    of_open = {
        "_base": base,
        "_constructor": property(type),
        "values": property(lambda self: opened(base.values.__get__(self))),
    }
    return type(own.__name__, (own, base), {**of_open, **methods, **members})


def _is_operator(name: str) -> bool:
    """Whether it is one of two operands: `__add__`, `__radd__`, `__lt__`."""
    return not {name, name.replace("__r", "__")}.isdisjoint(vars(operator))


def _tried(original: Call) -> Call:
    """A method that is tried again where it fails."""

    @wraps(original)
    def call(self: Any, *args: object, **kwargs: object) -> object:
        return self._used(original, *args, **kwargs)

    return call


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
    tpudiag_of: tuple[Any, Callable[[Any], Any]] | None = None
    """The column that it was made of, and how."""
    index: Any
    name: Any

    def __getitem__(self, key: object) -> object:
        try:
            return opened(self._base.__getitem__(self, key))
        except KeyError:
            of = self.tpudiag_of
            if of is not None and not self.index.equals(of[0].index):
                # How often a value is there, or what a group of that name has: then it is there.
                made = of[1](of[0]._holding((key,)))
                if key in made.index:
                    return opened(made[key])
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
    def str(self) -> object:
        """Methods of its texts."""
        return Parts(self, lambda plain: plain.str)

    @property
    def dt(self) -> object:
        """What its days have."""
        return Parts(
            self,
            lambda days: (days if days.dtype.kind in "mM" else days.astype("datetime64[ns]")).dt,
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

        def use(at: object) -> object:
            return original(at, *args, **kwargs)

        name = getattr(original, "__name__", "")
        given: Any = next(iter((*args, *kwargs.values())), None)
        several = name == "isin" or (name in _EACH and isinstance(given, dict))
        equal: Args = tuple(given) if several else (given,) if name in _EQUAL else ()
        try:
            made = use(self._holding(equal))
        except MISSES:
            first = self
            while first.tpudiag_of is not None:
                first, _ = first.tpudiag_of
            if (table := first.tpudiag_table) is None:
                raise
            made = table.of_kind(lambda: use(self._anew()), [(table, first.name)])
        if type(made) is not self._base:
            return opened(made)
        column = self._constructor(made)
        column.tpudiag_of = (self, use)
        return column

    def _anew(self) -> Any:
        """Plain, as it is by what its table holds by now."""
        if self.tpudiag_of is None:
            return self._base(self.tpudiag_table[self.name]).reindex(self.index)
        column, use = self.tpudiag_of
        return use(column._anew())
