"""Columns, and rows, of tables that are stood in for: what they hold follows from their uses."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from tpudiag.sources.job.points import user_lines

from . import open_arrays
from .column_values import RETRIED, Use, by_name, is_day

_MISUSES = (TypeError, ValueError, AttributeError, KeyError, SyntaxError)
_ORDERS = ("__lt__", "__le__", "__gt__", "__ge__")
_USES = (
    "apply", "astype", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__",
    "__truediv__", "__rtruediv__", "__floordiv__", "__mod__", "mean", "std", "sum", *_ORDERS,
)  # fmt: skip
"""What fails on a column of another kind."""
_Text = str


class Known:
    """What is known of one table that is stood in for, and of all that is made of its rows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.uses: dict[Any, Use] = {}

    def values(self, name: Any, labels: Any) -> list[Any]:
        """The values of a column."""
        use = self.uses.setdefault(name, Use(by_name(name)))
        return use.values(labels, self.rows)


def by_user() -> bool:
    """Whether the user's own line asks, not a library that looks what it was given."""
    return user_lines.direct_caller() is not None


class OpenColumn:
    """A column that learns from its uses; a row that has whatever column is asked of it."""

    _base: Any
    """The Series of the job's pandas."""
    _known: Any = None
    _table: Any = None
    """The table of which it is a column as it was made, and not the script's own."""

    index: Any
    name: Any

    @property
    def _constructor(self) -> Any:
        return type(self)

    @property
    def _constructor_expanddim(self) -> Any:
        return self._base._constructor_expanddim.__get__(self)

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._base.__getitem__(self, key)
        except KeyError:
            if self._known is None or not isinstance(key, str):
                raise
            return self._known.values(key, [self.name])[0]

    def __getattr__(self, name: str) -> Any:
        try:
            return self._base.__getattr__(self, name)
        except AttributeError:
            row = self._known is not None and self._table is None
            if not row or name.startswith("_") or not by_user():
                raise
            return self[name]

    @property
    def str(self) -> Any:
        """Methods of its texts."""
        return self._again(lambda plain: plain.str)

    @property
    def values(self) -> Any:
        """Its values, of elastic size."""
        given = self._base.values.__get__(self)
        return open_arrays.opened(given) if self._is_open(given) else given

    def _is_open(self, given: Any) -> bool:
        """Whether what it holds may take another shape."""
        return self._known is not None and type(given).__name__ == "ndarray"

    def to_numpy(self, *args: Any, **kwargs: Any) -> Any:
        """Its values, of elastic size."""
        given = self._base.to_numpy(self, *args, **kwargs)
        return open_arrays.opened(given) if self._is_open(given) else given

    def __eq__(self, other: Any) -> Any:
        return self._holding([other]) == other

    def __ne__(self, other: Any) -> Any:
        return self._holding([other]) != other

    __hash__ = object.__hash__

    def isin(self, values: Any) -> Any:
        """Which are among these."""
        return self._holding(list(values)).isin(values)

    def _holding(self, values: list[Any]) -> Any:
        """Plain, and some rows with each of these values."""
        plain = self._base(self)
        open_ = self._table is not None and all(isinstance(v, (_Text, int)) for v in values)
        if not open_ or not len(plain) or plain.isin(values).any():
            return plain
        use = self._known.uses[self.name]
        use.equal += [each for each in values if each not in use.equal]
        return self._renewed()

    def _renewed(self) -> Any:
        """Plain, as what is known by now says; in the table too."""
        table, name = self._table, self.name
        table._renew(name)
        return self._base(self._known.values(name, self.index), index=self.index, name=name)

    def map(self, arg: Any, *args: Any, **kwargs: Any) -> Any:
        """Each value's; of a dict, whose keys some rows hold."""
        if isinstance(arg, dict):
            return self._holding(list(arg)).map(arg, *args, **kwargs)
        return self._again(lambda plain: plain.map(arg, *args, **kwargs))

    def _again(self, use: Callable[[Any], Any]) -> Any:
        """A use of the column, of another kind where it fails."""
        try:
            return use(self._base(self))
        except _MISUSES:
            if self._table is None:
                raise
            known = self._known.uses[self.name]
            before = known.kind
            for kind in RETRIED:
                known.kind = kind
                try:
                    result = use(
                        self._base(self._known.values(self.name, self.index), index=self.index)
                    )
                except Exception:
                    continue
                self._table._renew(self.name)
                return result
            known.kind = before
            raise


def column_class(pandas: Any) -> Any:
    """The class of open columns, of the job's pandas."""
    base = pandas.Series
    names = {"_base": base, "_metadata": [*base._metadata, "_known"]}
    uses = {name: _used(getattr(base, name), name) for name in _USES}
    return type("Column", (OpenColumn, base), {**names, **uses})


def _used(original: Any, name: str) -> Any:
    """A use of a column: tried with other kinds of values where it fails."""

    @wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._table is None:
            return original(self, *args, **kwargs)
        if name in _ORDERS and args and is_day(args[0]):
            self._known.uses[self.name].bounds.append(args[0])
            return original(self._renewed(), *args)
        return self._again(lambda plain: original(plain, *args, **kwargs))

    return call
