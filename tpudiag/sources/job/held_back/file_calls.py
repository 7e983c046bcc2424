"""The calls that name files: what each does to which argument, and one hook for all of them."""

from __future__ import annotations

import glob
import importlib
import importlib.abc
import os
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, cast

from tpudiag.sources.job.held_back.layer import Layer, inside
from tpudiag.sources.job.tensorflow import hooks

_WRITES = re.compile(r"[wax+]")
_KEEPS = re.compile(r"[ax+]")
_KEEPERS = ("glob", "pathlib")
_ACCESS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Effect(Enum):
    """What a call does to the file that an argument names."""

    READ = "read"
    ENTERED = "entered"
    MADE = "made"
    CHANGED = "changed"
    MOVED = "moved"
    FILE_GONE = "file gone"
    FOLDER_GONE = "folder gone"
    TREE_GONE = "tree gone"
    LINKED = "linked"
    """What a link leads to; the argument behind it is the link."""
    WRITTEN = "written"
    """As made, and it is a file."""
    LISTED = "listed"
    ENTRIES = "entries"
    OPENED = "opened"
    """By the argument behind it: a mode or flags."""
    NAMED = "named"
    """The call gives paths, by calls that are redirected: those of what the job wrote as their
    places, for code that no call is redirected of."""
    TOLD = "told"
    """The call gives a path."""
    CHILDREN = "children"
    """As listed, of a folder that may be remote."""
    MATCHES = "matches"
    """The names that match a pattern."""
    PATTERN = "pattern"
    """A pattern that goes on into an operation, or several."""


_GONE = {Effect.FILE_GONE: False, Effect.FOLDER_GONE: True, Effect.TREE_GONE: None}


@dataclass(frozen=True)
class Argument:
    """One argument of a call, by its place and its name."""

    index: int
    name: str
    effect: Effect
    at: str = "dir_fd"
    """The argument that gives the folder which a relative path begins in."""


@dataclass(frozen=True)
class Point:
    """Calls of one module, or of a class in it, and the arguments that name files."""

    module: str
    names: tuple[str, ...]
    arguments: tuple[Argument, ...]


def point(module: str, names: str, *arguments: tuple[str, Effect], first: int = 0) -> Point:
    """Calls whose first arguments name files; the first of all is that of number `first`."""
    ats = ("src_dir_fd", "dst_dir_fd") if len(arguments) > 1 else ("dir_fd",)
    named = (
        Argument(index, name, effect, ats[min(index - first, len(ats) - 1)])
        for index, (name, effect) in enumerate(arguments, first)
    )
    return Point(module, tuple(names.split()), tuple(named))


PYTHON = (
    point("builtins", "open", ("file", Effect.OPENED)),
    point("io", "open", ("file", Effect.OPENED)),  # as pathlib opens a file
    point("tarfile", "bltn_open", ("file", Effect.OPENED)),
    point("bz2", "_builtin_open", ("file", Effect.OPENED)),
    point("os", "open", ("path", Effect.OPENED)),
    point("os", "stat lstat access readlink statvfs", ("path", Effect.READ)),
    point("os", "chdir", ("path", Effect.ENTERED)),
    point("os", "getcwd", ("", Effect.TOLD)),
    point("os", "chmod chown lchown utime truncate", ("path", Effect.CHANGED)),
    point("os", "mkdir mkfifo mknod", ("path", Effect.MADE)),
    point("os", "remove unlink", ("path", Effect.FILE_GONE)),
    point("os", "rmdir", ("path", Effect.FOLDER_GONE)),
    point("os", "rename replace", ("src", Effect.MOVED), ("dst", Effect.MADE)),
    point("os", "link", ("src", Effect.CHANGED), ("dst", Effect.MADE)),
    point("os", "symlink", ("src", Effect.LINKED)),
    point("os", "listdir", ("path", Effect.LISTED)),
    point("os", "scandir", ("path", Effect.ENTRIES)),
    point("os", "walk", ("top", Effect.NAMED)),
    point("glob", "glob iglob", ("", Effect.NAMED)),
    point("pathlib:Path", "glob rglob iterdir", ("", Effect.NAMED)),
    point("shutil", "rmtree", ("path", Effect.TREE_GONE)),
)
"""Python's own."""
BY_C_CODE = (
    point("sqlite3", "connect", ("database", Effect.CHANGED)),
    point("sqlite3.dbapi2", "connect", ("database", Effect.CHANGED)),
    point("h5py._hl.files:File", "__init__", ("name", Effect.OPENED), first=1),
)
"""Of libraries that open files by code of their own; others meet the wall, where there is one."""


class FileCalls:
    """The hooks on calls, each of which is redirected by one layer."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer

    def install(self) -> None:
        """Redirect Python's own calls."""
        changed: dict[Any, Any] = {}
        for each in PYTHON:
            module = hooks.quietly(importlib.import_module, each.module.partition(":")[0])
            changed.update(self.around(module, each))
        put_where_kept(changed)
        sys.meta_path.append(_WrittenModules(self._layer))

    def by_module(self) -> dict[str, Callable[[Any], None]]:
        """What is to be told of the import of which module."""
        found: dict[str, Callable[[Any], None]] = {}
        for each in BY_C_CODE:
            found[each.module.partition(":")[0]] = partial(self._imported, each)
        return found

    def _imported(self, at: Point, module: Any) -> None:
        self.around(module, at)

    def around(self, owner: Any, at: Point) -> dict[Any, Any]:
        """Redirect a point's calls in a module, or in a class of it; each with what it became."""
        for part in filter(None, at.module.partition(":")[2].split(".")):
            owner = getattr(owner, part)
        changed: dict[Any, Any] = {}
        for name in at.names:
            if hasattr(owner, name):
                before = getattr(owner, name)
                hooks.around(owner, name, self.redirected(at.arguments))
                changed[before] = getattr(owner, name)
        return changed

    def redirected(self, arguments: tuple[Argument, ...]) -> Callable[..., Any]:
        """A hook for a call with such arguments."""
        single = arguments[0]

        def call(original: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(inside, "now", False):
                return original(*args, **kwargs)
            if kwargs.get("opener") is not None:
                return original(*args, **kwargs)  # which names the file itself, as tempfile's does
            if single.effect is Effect.NAMED:
                return _named(self._layer, original(*args, **kwargs))
            inside.now = True
            try:
                if single.effect in _SPECIAL:
                    return _SPECIAL[single.effect](self._layer, single, original, args, kwargs)
                for each in arguments:
                    args, kwargs = _placed(self._layer, each, args, kwargs)
                return original(*args, **kwargs)
            finally:
                inside.now = False

        return call


def put_where_kept(changed: dict[Any, Any]) -> None:
    """Put redirected functions where Python's library keeps those of `os` under names of its own.

    In classes of pathlib (3.10) and glob (from 3.13 on), and in the sets of what a call supports.
    """
    for name in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks"):
        group: set[Any] = getattr(os, name)
        group.update([new for old, new in changed.items() if old in group])
    kept = [m for name, m in list(sys.modules.items()) if name.partition(".")[0] in _KEEPERS]
    for holder in (each for module in kept for each in vars(module).values()):
        for name, value in list(vars(holder).items()) if isinstance(holder, type) else ():
            function = getattr(value, "__func__", value)
            if isinstance(function, Hashable) and function in changed:
                setattr(holder, name, staticmethod(changed[function]))


def _given(argument: Argument, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What was given for an argument; None for nothing."""
    return args[argument.index] if len(args) > argument.index else kwargs.get(argument.name)


def _with(argument: Argument, place: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Arguments with another path, which is a whole one: no folder is open for it."""
    kwargs = {name: value for name, value in kwargs.items() if name != argument.at}
    if len(args) > argument.index:
        return (*args[: argument.index], place, *args[argument.index + 1 :]), kwargs
    return args, {**kwargs, argument.name: place}


def _placed(layer: Layer, argument: Argument, args: Any, kwargs: dict[str, Any]) -> Any:
    """Arguments with the place of a path in its place."""
    path, at = _given(argument, args, kwargs), kwargs.get(argument.at)
    if argument.effect is Effect.OPENED:
        how = args[argument.index + 1] if len(args) > argument.index + 1 else None
        place = _opened(layer, path, kwargs.get("mode", how), kwargs.get("flags", how), at)
    elif isinstance(path, (list, tuple)):
        paths = cast("Sequence[Any]", path)
        place = [_PLACES[argument.effect](layer, each, at) for each in paths]
    else:
        place = _PLACES[argument.effect](layer, path, at)
    return (args, kwargs) if place is path else _with(argument, place, args, kwargs)


def _written(layer: Layer, path: Any, at: int | None) -> Any:
    """A file is written whole."""
    place = layer.made(path, at)
    if place is not path:
        layer.on_change(layer.whole(place), False)
    return place


def _pattern(layer: Layer, pattern: Any, at: int | None) -> Any:
    """A pattern of files that the job wrote, if it wrote any."""
    whole = layer.whole(pattern, at)
    return layer.place(whole) if whole and glob.glob(layer.place(whole)) else pattern


_PLACES: dict[Effect, Callable[[Layer, Any, int | None], Any]] = {
    # By name, for layers differ in what they do.
    Effect.READ: lambda layer, path, at: layer.read(path, at),
    Effect.ENTERED: lambda layer, path, at: layer.entered(path, at),
    Effect.MADE: lambda layer, path, at: layer.made(path, at),
    Effect.WRITTEN: _written,
    Effect.CHANGED: lambda layer, path, at: layer.changed(path, at),
    Effect.MOVED: lambda layer, path, at: layer.moved(path, at),
    Effect.PATTERN: _pattern,
}


def _opened(layer: Layer, path: Any, mode: Any, flags: Any, at: int | None) -> Any:
    """The place of a path that is opened, by a mode in words or by flags."""
    if isinstance(flags, int):
        writes, keeps = bool(flags & _ACCESS), not flags & os.O_TRUNC
    else:
        text = mode.decode() if isinstance(mode, bytes) else str(mode or "r")
        writes = bool(_WRITES.search(text))
        keeps = bool(_KEEPS.search(text)) and not text.startswith("w")
    if not writes:
        return layer.read(path, at)
    to = layer.followed(path, at)
    at = at if to is path else None
    place = layer.changed(to, at) if keeps else layer.made(to, at)
    if place is not path:
        layer.on_change(layer.whole(place), False)
    return place


def _gone(layer: Layer, argument: Argument, original: Any, args: Any, kwargs: Any) -> Any:
    """Something is removed."""
    path = _given(argument, args, kwargs)
    whole = layer.whole(path, kwargs.get(argument.at))
    if not whole:
        return original(*args, **kwargs)

    def remove(place: Any) -> Any:
        own, rest = _with(argument, place, args, kwargs)
        return original(*own, **rest)

    like = os.fsencode(whole) if isinstance(path, bytes) else whole
    return layer.removed(like, remove, _GONE[argument.effect])


def _linked(layer: Layer, argument: Argument, original: Any, args: Any, kwargs: Any) -> Any:
    """A link is made: from its place it leads to where the job means."""
    to = Argument(argument.index + 1, "dst", Effect.MADE)
    source, link = _given(argument, args, kwargs), _given(to, args, kwargs)
    whole = layer.whole(link, kwargs.get(to.at))
    if not whole:
        return original(*args, **kwargs)
    leads = layer.read(os.path.join(os.path.dirname(whole), os.fsdecode(source)))
    args, kwargs = _with(argument, leads, args, kwargs)
    args, kwargs = _with(to, os.fsdecode(layer.made(whole)), args, kwargs)
    return original(*args, **kwargs)


def _listed(layer: Layer, argument: Argument, original: Any, args: Any, kwargs: Any) -> Any:
    """The names in a folder."""
    path = _given(argument, args, kwargs)
    names = layer.names("." if path is None else path)
    if names is None:
        place = layer.read("." if path is None else path)
        return original(*args, **kwargs) if place == "." else original(place)
    return [os.fsencode(name) for name in names] if isinstance(path, bytes) else names


class _Entries:
    """What `os.scandir` gives, of several folders; the first of a name stands for all."""

    def __init__(self, folders: list[Any], names: list[Any]) -> None:
        self._folders = folders
        left = dict.fromkeys(names)
        by_name: dict[Any, Any] = {}
        for entry in (entry for folder in folders for entry in folder):
            if entry.name in left:
                by_name.setdefault(entry.name, entry)
        self._left = iter(by_name.values())

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._left)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the folders."""
        for folder in self._folders:
            folder.close()


def _entries(layer: Layer, argument: Argument, original: Any, args: Any, kwargs: Any) -> Any:
    """The entries of a folder."""
    given = _given(argument, args, kwargs)
    path = "." if given is None else given
    names = layer.names(path)
    if names is None:
        place = layer.read(path)
        return original(*args, **kwargs) if place is path else original(place)
    whole = layer.whole(layer.followed(path))
    both = [layer.place(whole), *([] if layer.is_hidden(whole) else [whole])]
    # A relative path stays one in the entries of what was there before.
    there = [path if each == whole and path != "." else each for each in both]
    there = [each for each in there if os.path.isdir(each)]
    is_bytes = isinstance(path, bytes)
    return _Entries(
        [original(os.fsencode(each) if is_bytes else each) for each in there],
        [os.fsencode(name) if is_bytes else name for name in names],
    )


def _found(layer: Layer, argument: Argument, original: Any, args: Any, kwargs: Any) -> Any:
    """The names in a folder, or those that match a pattern, of both places."""
    path = _given(argument, args, kwargs)
    whole = layer.whole(path)
    if not whole:
        return original(*args, **kwargs)
    matches = argument.effect is Effect.MATCHES
    place = layer.place(whole)
    written = list(original(place)) if matches or os.path.isdir(place) else []
    try:
        below = [] if layer.is_hidden(whole) else list(original(whole))
    except Exception:
        if not written:
            raise
        below = []
    own = {_name(layer.whole(name) if matches else name) for name in written}
    for name in below:
        known = layer.whole(name) if matches else f"{whole}/{_name(name)}"
        if _name(known if matches else name) not in own and not layer.is_hidden(known):
            written.append(name)
    return written


def _name(name: Any) -> str:
    """A name as text, of a folder as of a file."""
    return os.fsdecode(name).rstrip("/")


def _named(layer: Layer, found: Any) -> Any:
    """Paths, or what `os.walk` gives: a folder and what is in it."""

    def placed(path: Any) -> Any:
        if isinstance(path, tuple):
            parts: list[Any] = [*path]
            return (layer.entered(parts[0]), *parts[1:])
        place = layer.read(path) if layer.holds(path) else path
        return path if place is path else type(path)(place)

    places = map(placed, found)
    return list(places) if isinstance(found, list) else places


def _told(layer: Layer, _argument: Argument, original: Any, args: Any, kwargs: Any) -> Any:
    """The call gives a path: as the job knows it."""
    path = original(*args, **kwargs)
    return layer.whole(path) or path


_SPECIAL: dict[Effect, Callable[[Layer, Argument, Any, Any, Any], Any]] = {
    Effect.FILE_GONE: _gone,
    Effect.FOLDER_GONE: _gone,
    Effect.TREE_GONE: _gone,
    Effect.LINKED: _linked,
    Effect.LISTED: _listed,
    Effect.ENTRIES: _entries,
    Effect.TOLD: _told,
    Effect.CHILDREN: _found,
    Effect.MATCHES: _found,
}


class _WrittenModules(importlib.abc.MetaPathFinder):
    """Finds modules that the job wrote itself, which Python's own import does not ask for here."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module in the places of the folders that are looked in."""
        folders = [self._layer.whole(each or ".") for each in (path or sys.path)]
        places = [self._layer.place(each) for each in folders if each]
        return PathFinder.find_spec(name, places, target) if places else None
