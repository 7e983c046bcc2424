"""`dataclass` for records that are frozen, defined in a tenth of the time.

The standard library compiles nine methods for each such class, over a millisecond, and a verb
loads about 150 classes before it does anything, of which it makes a part. Here `__init__` is
compiled when the first record is made; `__eq__`, `__hash__`, `__repr__` and what guards the fields
are closures over the fields, and do the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from operator import attrgetter
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
            plain = dataclasses.dataclass(init=False, eq=False, repr=False, kw_only=kw_only)
            return _completed(plain(cls))

        return decorated


def _completed(cls: type) -> type:
    """The class with what the standard library was asked to omit; its own methods stay."""
    fields = dataclasses.fields(cls)
    compared = [f.name for f in fields if f.compare]
    hashed = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
    shown = [f.name for f in fields if f.repr]
    own = vars(cls)
    if "__eq__" not in own:
        cls.__eq__ = _equal(_values(compared))  # type: ignore[method-assign, assignment]
    # Python sets it to None in a class that has an `__eq__` of its own.
    if "__hash__" not in own or own["__hash__"] is None:
        cls.__hash__ = _hashed(_values(hashed))  # type: ignore[method-assign, assignment]
    if "__repr__" not in own:
        cls.__repr__ = _shown(shown)  # type: ignore[method-assign, assignment]
    cls.__init__ = _first_init(cls)  # type: ignore[misc]
    cls.__signature__ = _Signature()  # type: ignore[attr-defined]
    cls.__setattr__ = _no_assignment  # type: ignore[method-assign, assignment]
    cls.__delattr__ = _no_deletion  # type: ignore[method-assign, assignment]
    return cls


def _no_assignment(_self: object, name: str, _value: object) -> None:
    """`__setattr__` of every record."""
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(_self: object, name: str) -> None:
    """`__delattr__` of every record."""
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _first_init(cls: Any) -> Callable[..., None]:
    """An `__init__` that puts the compiled one in its place, and calls it."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        cls.__init__ = _compiled_init(cls)
        cls.__init__(self, *args, **kwargs)

    return __init__


def _compiled_init(cls: type) -> Callable[..., None]:
    """The `__init__` that the standard library would have made."""
    fields = [field for field in dataclasses.fields(cls) if field.init]
    ordered = [f for f in fields if not f.kw_only]
    named = [f for f in fields if f.kw_only]
    # By object's own `__setattr__`: that of the class refuses everything.
    values: dict[str, Any] = {"_unset": object(), "_set": object.__setattr__}
    for field in dataclasses.fields(cls):
        if field.default_factory is not dataclasses.MISSING:
            values[f"_make_{field.name}"] = field.default_factory
        elif field.default is not dataclasses.MISSING:
            values[f"_default_{field.name}"] = field.default
    arguments = ["self", *map(_argument, ordered), *["*"] * bool(named), *map(_argument, named)]
    body = list(_body(cls)) or ["pass"]
    source = f"def __init__({', '.join(arguments)}):\n  " + "\n  ".join(body)
    exec(source, values)  # as the standard library does: names of fields are identifiers
    made: Callable[..., None] = values["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _argument(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return f"{field.name}=_unset"
    default = field.default is not dataclasses.MISSING
    return f"{field.name}=_default_{field.name}" if default else field.name


def _body(cls: type) -> Iterator[str]:
    for field in dataclasses.fields(cls):
        name = field.name
        if field.default_factory is dataclasses.MISSING:
            value = name
        elif field.init:
            value = f"_make_{name}() if {name} is _unset else {name}"
        else:
            value = f"_make_{name}()"
        if field.init or value != name:
            yield f"_set(self, {name!r}, {value})"
    if hasattr(cls, "__post_init__"):
        yield "self.__post_init__()"


class _Signature:
    """`__signature__` of a record: what its compiled `__init__` takes, for help and editors."""

    def __get__(self, record: object, owner: type) -> Signature:
        from inspect import signature

        whole = signature(_compiled_init(owner))
        return whole.replace(parameters=list(whole.parameters.values())[1:])


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    # Of a single name attrgetter gives the bare value, and no tuple.
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
