"""A point: a place in a library where the job's calls are hooked, and how it is found."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from importlib import import_module
from itertools import takewhile
from types import ModuleType
from typing import Any

_LONG_NAMES = {"tf": "tensorflow"}


class Holder(Enum):
    """The object that holds the name."""

    NAMED = "the module or class itself"
    DEFINER = "the class that it is inherited from"
    """Where a library compares the two: Keras does not compile a loaded model where
    `type(model).compile` is not its trainer's."""
    DEFINERS = "each class among its bases that defines it"
    CALLED = "the module; where the name is that of a class, its constructor"


class Way(Enum):
    """How a hook is installed."""

    ATTRIBUTE = "the name is given another value"
    EVERYWHERE = "every public name of the object is"
    """TensorFlow has several of each, and a name left out would keep the real one."""
    CODE = "the function is given other code"
    """Importers before us keep the object, and still call the hook."""


class Undone(Enum):
    """When the hook is removed."""

    WITH_PROCESS = "never: the process is the rehearsal's own, and ends with it"
    WITH_LISTENERS = "when the last recording that listens is closed"
    AT_EXIT = "when Python ends"


@dataclass(frozen=True)
class Point:
    """One row of the table."""

    owners: tuple[str, ...]
    """Modules and classes, as named in a script; empty where the object is found at run time."""
    names: tuple[str, ...]
    why: str
    releases: str = ""
    """The library's releases that have it; empty for all supported ones."""
    holder: Holder = Holder.NAMED
    way: Way = Way.ATTRIBUTE
    undone: Undone = Undone.WITH_PROCESS

    @property
    def name(self) -> str:
        """`tf.data.Dataset.__iter__`."""
        owner = " ".join(self.owners) or "(found in the job)"
        return f"{owner}.{'|'.join(self.names)}"

    @property
    def module(self) -> str:
        """The module of its classes."""
        parts = self.owners[0].split(".")
        return ".".join(takewhile(lambda part: not part.strip("_")[0].isupper(), parts))

    @property
    def observes(self) -> bool:
        """Whether it is in the user's own process, where calls are observed but not changed."""
        return self.undone is not Undone.WITH_PROCESS

    def places(self, of: object = None) -> Iterator[tuple[Any, str]]:
        """Each object and name to hook; `of` replaces the first part.

        Keras is one of several packages, a TensorFlow API one of three, and a class may be known
        only once the job has made an object of it.
        """
        seen: set[tuple[int, str]] = set()
        for owner in self.owners or ("",):
            found = resolved(owner, of)
            for name in self.names if found is not None else ():
                for holder, held in self._held(found, name):
                    # Classes share their bases.
                    if (id(holder), held) not in seen:
                        seen.add((id(holder), held))
                        yield holder, held

    def each(self) -> Iterator[Point]:
        """A row per place, for a subscriber that must know which one was called."""
        for owners in tuple((owner,) for owner in self.owners) or ((),):
            yield from (replace(self, owners=owners, names=(name,)) for name in self.names)

    def named(self, *names: str) -> Point:
        """The row with names known only while the job runs."""
        return replace(self, names=names)

    def lacking(self, of: object = None) -> tuple[str, ...]:
        """The missing names; none of a package that this machine cannot import whole."""
        there = {name for _, name in self.places(of)}
        missing = tuple(name for name in self.names if name not in there)
        imported = self.module.partition(".")[0] in sys.modules
        return () if missing and imported and _is_broken(self.module) else missing

    def _held(self, owner: Any, name: str) -> Iterator[tuple[Any, str]]:
        if self.holder in (Holder.NAMED, Holder.CALLED):
            if hasattr(owner, name) and owner is not type:
                called = getattr(owner, name) if self.holder is Holder.CALLED else None
                yield (called, "__init__") if isinstance(called, type) else (owner, name)
            return
        holders = [class_ for class_ in owner.__mro__[:-1] if name in vars(class_)]
        for class_ in holders if self.holder is Holder.DEFINERS else holders[:1]:
            yield class_, name


def point(owners: str, names: str, why: str, releases: str = "", **how: Any) -> Point:
    """A row; owners and names are separated by blanks."""
    return Point(tuple(owners.split()), tuple(names.split()), why, releases, **how)


def resolved(path: str, of: object = None) -> object:
    """A module or class by its name; None where it is missing, or not imported by the job.

    Submodules of an existing one are imported, but none that the job does not have anyway.
    """
    first, *rest = path.split(".")
    name = str(getattr(of, "__name__", "")) or _LONG_NAMES.get(first, first)
    found: Any = of if of is not None else sys.modules.get(name)
    for part in rest if found is not None else ():
        name = f"{name}.{part}"
        found = _part(found, part, name)
        if found is None:
            break
    return found


def _is_broken(module: str) -> bool:
    """Whether a module is there that cannot be imported."""
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        return not f"{module}.".startswith(f"{error.name}.")
    except Exception:
        return True
    return False


def _part(owner: object, part: str, name: str) -> object:
    # A package may import attributes lazily and fail: existing ones come first.
    is_module = isinstance(owner, ModuleType) or sys.modules.get(name.rpartition(".")[0]) is owner
    known = (vars(owner).get(part) or sys.modules.get(name)) if is_module else None
    if known is not None:
        return known
    with suppress(Exception):
        return getattr(owner, part)
    with suppress(Exception):
        return import_module(name) if is_module else None
    return None
