"""`dataclass` for records that are frozen, defined in under half of the time.

The standard library compiles six methods for each such class, over a millisecond, and a verb
loads about 150 classes before it does anything. Here `__init__` and what guards the fields are
its own; `__eq__`, `__hash__` and `__repr__` are closures over the fields, and do the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  (told to type checkers)
else:

    def dataclass(*, frozen: bool, kw_only: bool = False) -> Callable[[type], type]:
        """As that of the standard library, for frozen classes alone."""
        if not frozen:
            raise TypeError("tpudiag.records.dataclass is for frozen classes")

        def decorated(cls: type) -> type:
            plain = dataclasses.dataclass(frozen=True, kw_only=kw_only, eq=False, repr=False)
            return _completed(plain(cls))

        return decorated


def _completed(cls: type) -> type:
    """The class with what the standard library was told to leave out; its own methods stay."""
    fields = dataclasses.fields(cls)
    compared = [f.name for f in fields if f.compare]
    hashed = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
    shown = [f.name for f in fields if f.repr]
    own = vars(cls)
    if "__eq__" not in own:
        cls.__eq__ = _equal(_values(compared))  # type: ignore[method-assign, assignment]
    if "__hash__" not in own or own["__hash__"] is None:
        cls.__hash__ = _hashed(_values(hashed))  # type: ignore[method-assign, assignment]
    if "__repr__" not in own:
        cls.__repr__ = _shown(shown)  # type: ignore[method-assign, assignment]
    return cls


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads some fields of a record as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def _equal(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    """`__eq__`: of the same class, and alike in the compared fields."""

    def equal(self: Any, other: object) -> bool:
        return (
            values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
        )

    return equal


def _hashed(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    """`__hash__`, over the compared fields."""
    return lambda self: hash(values(self))


def _shown(names: list[str]) -> Callable[[Any], str]:
    """`__repr__`: the class, and each field by name."""

    def shown(self: Any) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({inside})"

    return shown
