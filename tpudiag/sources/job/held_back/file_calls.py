"""One hook for all calls that name files."""

import glob
import importlib
import importlib.abc
import io
import os
import re
import sys
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, cast

from tpudiag.sources.job.held_back import file_lists
from tpudiag.sources.job.held_back.file_lists import given
from tpudiag.sources.job.held_back.layer import Layer, inside, is_elsewhere
from tpudiag.sources.job.points import Args, Call, Kwargs, Watches, barrier, files, hooks
from tpudiag.sources.job.points.files import Argument, Effect

_WRITES = re.compile(r"[wax+]")
_KEEPS = re.compile(r"[ax+]")
_KEEPERS = ("glob", "pathlib")
_ACCESS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


_CHANGING = (
    *(Effect.MADE, Effect.CHANGED, Effect.MOVED, Effect.WRITTEN),
    *(Effect.FILE_GONE, Effect.FOLDER_GONE, Effect.TREE_GONE),
)
_GONE = {Effect.FILE_GONE: False, Effect.FOLDER_GONE: True, Effect.TREE_GONE: None}


class FileCalls:
    """The hooks on file calls, all redirected by one layer."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer

    def install(self) -> None:
        """Redirect Python's own calls."""
        changed: dict[object, Call] = {}
        for each in files.PYTHON:
            hooks.quietly(importlib.import_module, each.at.owners[0].partition(".")[0])
            changed.update(self.around(each))
        put_where_kept(changed)
        call = self.redirected((Argument(0, "file", Effect.OPENED),))
        hooks.stand_in(files.RAW_FILE, _raw_file(io.FileIO, call))
        sys.meta_path.append(_WrittenModules(self._layer))

    def by_module(self) -> Watches:
        """The hooks by the module whose import triggers them."""

        def imported(row: files.FileCalls, _: object) -> None:
            self.around(row)

        return {each.at.module: partial(imported, each) for each in files.BY_C_CODE}

    def around(self, row: files.FileCalls) -> dict[object, Call]:
        """Redirect a row's calls; returns each original with its replacement."""
        before = [(owner, name, getattr(owner, name)) for owner, name in row.at.places()]
        call, sends = self.redirected(row.arguments), may_change_elsewhere(row.arguments)
        hooks.around(row.at, call, sends=sends)
        return {known: getattr(owner, name) for owner, name, known in before}

    def redirected(self, arguments: tuple[Argument, ...]) -> Call:
        """A hook for a call with these arguments."""
        single = arguments[0]

        def call(original: Call, *args: object, **kwargs: object) -> object:
            if getattr(inside, "now", False):
                return original(*args, **kwargs)
            if kwargs.get("opener") is not None:
                return original(*args, **kwargs)  # it names the file itself, as tempfile's does
            if single.effect is Effect.NAMED:
                found: Any = original(*args, **kwargs)
                return file_lists.named(self._layer, found)
            inside.now = True
            try:
                if single.effect in _SPECIAL:
                    return _SPECIAL[single.effect](self._layer, single, original, args, kwargs)
                for each in arguments:
                    args, kwargs = _placed(self._layer, each, args, kwargs)
                return original(*args, **kwargs)
            except OSError as error:
                if error.filename is not None:  # the job's own name, not its place
                    error.filename = self._layer.original(error.filename)
                raise
            finally:
                inside.now = False

        return call


def _raw_file(original: Any, call: Call) -> type:
    """A subclass of `io.FileIO`, which also covers files opened by C code."""

    def init(own: object, *args: object, **kwargs: object) -> None:
        barrier.guarded("io.FileIO", call, partial(original.__init__, own), args, kwargs)

    def is_one(cls: type, other: object) -> bool:
        return isinstance(other, original) if cls is made else type.__instancecheck__(cls, other)

    metaclass: Any = type
    kind = metaclass("FileIOType", (type(original),), {"__instancecheck__": is_one})
    made: type = kind("FileIO", (original,), {"__init__": init, "__doc__": original.__doc__})
    return made


def may_change_elsewhere(arguments: tuple[Argument, ...]) -> barrier.Sends:
    """Whether a call with these arguments may change a file outside this machine."""

    def asked(args: Args, kwargs: Kwargs) -> bool:
        for each in arguments:
            path = given(each, args, kwargs)
            how = args[each.index + 1 : each.index + 2] or [kwargs.get("mode", "r")]
            reads = isinstance(how[0], str) and not _WRITES.search(how[0])
            if each.effect in _CHANGING or (each.effect is Effect.OPENED and not reads):
                paths = cast("list[object]", path if isinstance(path, (list, tuple)) else [path])
                if any(map(is_elsewhere, paths)):
                    return True
        return False

    return asked


def put_where_kept(changed: dict[object, Call]) -> None:
    """Replace functions of `os` that Python's library keeps under names of its own.

    In classes of pathlib (3.10) and glob (from 3.13 on), and in the sets of supported features.
    """
    for name in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks"):
        group: set[object] = getattr(os, name)
        group.update([new for old, new in changed.items() if old in group])
    keepers = [m for name, m in list(sys.modules.items()) if name.partition(".")[0] in _KEEPERS]
    for holder in (each for module in keepers for each in vars(module).values()):
        for name, value in list(vars(holder).items()) if isinstance(holder, type) else ():
            function = getattr(value, "__func__", value)
            if isinstance(function, Hashable) and function in changed:
                hooks.stand_in(files.KEPT.named(name), staticmethod(changed[function]), holder)


def _placed(layer: Layer, argument: Argument, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """The arguments with a path replaced by its place."""
    path, at = given(argument, args, kwargs), _folder(argument, kwargs)
    if argument.effect is Effect.OPENED:
        how = args[argument.index + 1] if len(args) > argument.index + 1 else None
        place = _opened(layer, path, kwargs.get("mode", how), kwargs.get("flags", how), at)
    elif isinstance(path, (list, tuple)):
        paths = cast("Sequence[object]", path)
        place = [_PLACES[argument.effect](layer, each, at) for each in paths]
    else:
        place = _PLACES[argument.effect](layer, path, at)
    return (args, kwargs) if place is path else with_path(argument, place, args, kwargs)


def _folder(argument: Argument, kwargs: Kwargs) -> int | None:
    at = kwargs.get(argument.at)
    return at if isinstance(at, int) else None


def _written(layer: Layer, path: object, at: int | None) -> object:
    place = layer.made(path, at)
    if place is not path:
        layer.on_change(layer.whole(place), False)
    return place


def _pattern(layer: Layer, pattern: object, at: int | None) -> object:
    whole = layer.whole(pattern, at)
    return layer.place(whole) if whole and glob.glob(layer.place(whole)) else pattern


_PLACES: dict[Effect, Callable[[Layer, object, int | None], object]] = {
    # By name, since layers differ in what they do.
    Effect.READ: lambda layer, path, at: layer.read(path, at),
    Effect.ENTERED: lambda layer, path, at: layer.entered(path, at),
    Effect.MADE: lambda layer, path, at: layer.made(path, at),
    Effect.WRITTEN: _written,
    Effect.CHANGED: lambda layer, path, at: layer.changed(path, at),
    Effect.MOVED: lambda layer, path, at: layer.moved(path, at),
    Effect.PATTERN: _pattern,
}


def _opened(layer: Layer, path: object, mode: object, flags: object, at: int | None) -> object:
    """The place of an opened path, by a mode or flags."""
    if isinstance(flags, int):
        # Without O_CREAT it is opened where it exists, even to be truncated.
        keeps = not flags & os.O_TRUNC or not flags & os.O_CREAT
        writes = bool(flags & _ACCESS)
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


def _gone(layer: Layer, argument: Argument, original: Call, args: Args, kwargs: Kwargs) -> object:
    path = given(argument, args, kwargs)
    whole = layer.whole(path, _folder(argument, kwargs))
    if not whole:
        return original(*args, **kwargs)

    def remove(place: object) -> object:
        own, rest = with_path(argument, place, args, kwargs)
        return original(*own, **rest)

    like = os.fsencode(whole) if isinstance(path, bytes) else whole
    return layer.removed(like, remove, _GONE[argument.effect])


def _linked(layer: Layer, argument: Argument, original: Call, args: Args, kwargs: Kwargs) -> object:
    """Create a link: it leads from its place to the job's target."""
    to = Argument(argument.index + 1, "dst", Effect.MADE)
    source, link = given(argument, args, kwargs), given(to, args, kwargs)
    whole = layer.whole(link, _folder(to, kwargs))
    if not whole:
        return original(*args, **kwargs)
    leads = layer.read(os.path.join(os.path.dirname(whole), os.fsdecode(source)))
    args, kwargs = with_path(argument, leads, args, kwargs)
    args, kwargs = with_path(to, str(layer.made(whole)), args, kwargs)
    return original(*args, **kwargs)


def with_path(argument: Argument, place: object, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """The arguments with an absolute path instead, without a folder's descriptor."""
    kwargs = {name: value for name, value in kwargs.items() if name != argument.at}
    if len(args) > argument.index:
        return (*args[: argument.index], place, *args[argument.index + 1 :]), kwargs
    return args, {**kwargs, argument.name: place}


def _job_path(
    layer: Layer, _argument: Argument, original: Call, args: Args, kwargs: Kwargs
) -> object:
    """A call that returns a path: the job's own path."""
    path = original(*args, **kwargs)
    return layer.whole(path) or path


_SPECIAL: dict[Effect, Callable[[Layer, Argument, Call, Args, Kwargs], object]] = {
    Effect.FILE_GONE: _gone,
    Effect.FOLDER_GONE: _gone,
    Effect.TREE_GONE: _gone,
    Effect.LINKED: _linked,
    Effect.LISTED: file_lists.listed,
    Effect.ENTRIES: file_lists.entries,
    Effect.TOLD: _job_path,
    Effect.CHILDREN: file_lists.found,
    Effect.MATCHES: file_lists.found,
}


class _WrittenModules(importlib.abc.MetaPathFinder):
    """Finds modules that the job wrote itself, which Python's own import would not see."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module's spec, searched in the folders' places."""
        folders = [self._layer.whole(each or ".") for each in (path or sys.path)]
        places = [self._layer.place(each) for each in folders if each]
        return PathFinder.find_spec(name, places, target) if places else None
