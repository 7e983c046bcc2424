"""A folder's content as the job sees it: what existed before, and what the job wrote."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tpudiag.sources.job.held_back.layer import Layer
from tpudiag.sources.job.points import Args, Kwargs
from tpudiag.sources.job.points.files import Argument, Effect


def given(argument: Argument, args: Sequence[object], kwargs: Kwargs) -> Any:
    """An argument's value; None where not given."""
    return args[argument.index] if len(args) > argument.index else kwargs.get(argument.name)


def listed(
    layer: Layer, argument: Argument, original: Callable[..., Any], args: Args, kwargs: Kwargs
) -> object:
    """The names in a folder."""
    path = given(argument, args, kwargs)
    names = layer.names("." if path is None else path)
    if names is None:
        place = layer.read("." if path is None else path)
        return original(*args, **kwargs) if place == "." else original(place)
    return [os.fsencode(name) for name in names] if isinstance(path, bytes) else names


class _Entries(contextlib.ExitStack):
    """The result of `os.scandir` over several folders; the first entry of a name counts."""

    def __init__(self, folders: list[Any], names: list[object]) -> None:
        super().__init__()
        for folder in folders:
            self.callback(folder.close)
        left = dict.fromkeys(names)
        by_name: dict[object, object] = {}
        for entry in (entry for folder in folders for entry in folder):
            if entry.name in left:
                by_name.setdefault(entry.name, entry)
        self._left = iter(by_name.values())

    def __iter__(self) -> Iterator[object]:
        return self

    def __next__(self) -> object:
        return next(self._left)


def entries(
    layer: Layer, argument: Argument, original: Callable[..., Any], args: Args, kwargs: Kwargs
) -> object:
    """The entries of a folder."""
    named_path = given(argument, args, kwargs)
    path = "." if named_path is None else named_path
    names = layer.names(path)
    if names is None:
        place = layer.read(path)
        return original(*args, **kwargs) if place is path else original(place)
    whole = layer.whole(layer.followed(path))
    both = [layer.place(whole), *([] if layer.is_hidden(whole) else [whole])]
    # A relative path stays relative in the entries that existed before.
    there = [path if each == whole and path != "." else each for each in both]
    there = [each for each in there if os.path.isdir(each)]
    is_bytes = isinstance(path, bytes)
    return _Entries(
        [original(os.fsencode(each) if is_bytes else each) for each in there],
        [os.fsencode(name) if is_bytes else name for name in names],
    )


def found(
    layer: Layer, argument: Argument, original: Callable[..., Any], args: Args, kwargs: Kwargs
) -> object:
    """The names in a folder, or those that match a pattern, in both places."""
    whole = layer.whole(given(argument, args, kwargs))
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


def _name(name: str | bytes) -> str:
    return os.fsdecode(name).rstrip("/")


def named(layer: Layer, found: Iterable[object]) -> object:
    """The job's paths, also in `os.walk` results of a folder and its content."""

    def placed(path: Any) -> object:
        if isinstance(path, tuple):
            parts: list[object] = [*path]
            return (layer.entered(parts[0]), *parts[1:])
        place = layer.read(path) if layer.holds(path) else path
        return path if place is path else type(path)(place)

    places = map(placed, found)
    return list(places) if isinstance(found, list) else places
