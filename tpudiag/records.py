"""`dataclass` for records that are frozen, defined in a tenth of the time.

The standard library compiles nine methods for each such class, over a millisecond, and a verb
loads about 150 classes before it does anything, of which it makes a part. Here they are compiled
when the first of them is called.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  (told to type checkers)
    from inspect import Signature
else:

    def dataclass(*, frozen: bool, kw_only: bool = False) -> Callable[[type], type]:
        """As that of the standard library, for frozen classes alone, which inherit no fields."""
        if not frozen:
            raise TypeError("tpudiag.records.dataclass is for frozen classes")

        def decorated(cls: type) -> type:
            # A class without a docstring would be given its signature as one, which is dear.
            cls.__doc__ = cls.__doc__ or cls.__name__
            made = dataclasses.dataclass(init=False, eq=False, repr=False, kw_only=kw_only)(cls)
            # Python sets `__hash__` to None in a class that has an `__eq__` of its own.
            late = [name for name in _COMPILED if vars(cls).get(name) is None]
            for name in late:
                setattr(made, name, _first(made, name, late))
            made.__signature__ = _Signature()
            made.__setattr__, made.__delattr__ = _no_assignment, _no_deletion
            return made

        return decorated


_COMPILED = ("__init__", "__repr__", "__eq__", "__hash__")


def _first(cls: Any, name: str, late: list[str]) -> Callable[..., Any]:
    """A method that compiles all of them, and calls its own."""

    def method(self: object, *args: Any, **kwargs: Any) -> Any:
        twin = _twin(cls)
        for each in late:
            setattr(cls, each, vars(twin)[each])
        return getattr(cls, name)(self, *args, **kwargs)

    return method


def _twin(cls: Any) -> type:
    """The class by the standard library: for other threads this one is whole all the time."""
    fields = dataclasses.fields(cls)
    own: dict[str, Any] = {field.name: field for field in fields}
    # From Python 3.14 on a class computes them when it is asked, and has none of its own.
    own["__annotations__"] = {field.name: field.type for field in fields}
    kept = ("__module__", "__qualname__", "__post_init__", "__doc__")
    own |= {name: vars(cls)[name] for name in kept if name in vars(cls)}
    return dataclasses.dataclass(frozen=True)(type(cls.__name__, (), own))


def _no_assignment(_self: object, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(_self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


class _Signature:
    """`__signature__` of a record: that of its `__init__`, for help and editors."""

    def __get__(self, record: object, owner: Any) -> Signature:
        from inspect import signature

        return signature(_twin(owner))
