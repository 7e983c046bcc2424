"""Redirects Python's own calls on files and folders into a job's sandbox.

What lists a folder shows what was there before and what the job has written, and gives paths in the
sandbox for the latter, so that libraries that open files by their own C code find them, too.
"""

from __future__ import annotations

import builtins
import bz2
import glob
import io
import os
import pathlib
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

from tpudiag.sources.job.tensorflow import hooks
from tpudiag.sources.job.tensorflow.sandbox import Sandbox


class _Entries:
    """What `os.scandir` gives, of several folders; the first of a name stands for all."""

    def __init__(self, folders: list[Any]) -> None:
        self._folders = folders
        by_name: dict[Any, Any] = {}
        for folder in folders:
            for entry in folder:
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


class FileCalls:
    """Python's calls that name a file or a folder."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._making = threading.local()

    def install(self) -> None:
        """Redirect them, where the user's code or its libraries read and write."""
        sandbox = self._sandbox
        # tarfile and bz2 keep a name of their own for the built-in function.
        for owner, name in (
            (builtins, "open"), (io, "open"), (tarfile, "bltn_open"), (bz2, "_builtin_open"),
        ):  # fmt: skip
            if hasattr(owner, name):
                hooks.around(owner, name, self._open)
        for name in ("makedirs", "mkdir"):
            hooks.around(os, name, self._unless_temporary(sandbox.first(sandbox.written)))
        for name in ("remove", "rmdir", "unlink"):
            hooks.around(os, name, self._remove)
        hooks.around(shutil, "rmtree", self._remove)
        for name in ("exists", "isdir", "isfile"):
            hooks.around(os.path, name, sandbox.first(sandbox.read))
        for name in ("rename", "replace"):
            hooks.around(os, name, sandbox.both)
        hooks.around(os, "listdir", self._listdir)
        if sandbox.of_local_files:
            self._local()

    def _local(self) -> None:
        """Calls that no path of a bucket is given to."""
        for name in ("stat", "lstat"):
            hooks.around(os, name, self._sandbox.first(self._sandbox.read))
        for name in ("chmod", "utime"):
            hooks.around(os, name, self._changed)
        for name in ("mkdtemp", "mkstemp", "NamedTemporaryFile"):
            hooks.around(tempfile, name, self._temporary)
        hooks.around(os, "scandir", self._scandir)
        hooks.around(os, "walk", self._walk)
        for name in ("glob", "iglob"):
            hooks.around(glob, name, self._named)
        for name in ("glob", "rglob", "iterdir"):
            hooks.around(pathlib.Path, name, self._named)

    def _open(self, original: Any, file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
        """A file is opened, to write or to read."""
        return original(self._sandbox.opened(file, mode), mode, *args, **kwargs)

    def _remove(self, original: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        """What the job wrote is removed; what was there before stays, and the job goes on."""
        if kwargs.get("dir_fd") is not None:
            return original(path, *args, **kwargs)
        place = self._sandbox.removed(path)
        stays = place is not path and not self._sandbox.was_there(place)
        if stays and self._sandbox.was_there(path):
            return None
        return original(place, *args, **kwargs)

    def _changed(self, original: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        """The mode or the times of what the job wrote, never of what was there before."""
        place = self._sandbox.read(path)
        if place is path and self._sandbox.redirects(path) and self._sandbox.was_there(path):
            return None
        return original(place, *args, **kwargs)

    def _listdir(self, original: Any, path: Any = None) -> Any:
        """The names in a folder, here and in the sandbox."""
        places = self._places(path)
        if len(places) == 1:
            return original(places[0])
        return sorted({name for place in places for name in original(place)})

    def _scandir(self, original: Any, path: Any = None) -> Any:
        """The entries of a folder, those of the sandbox first."""
        places = self._places(path)
        if len(places) == 1:
            return original(places[0])
        return _Entries([original(place) for place in places])

    def _places(self, path: Any) -> list[Any]:
        """A folder's place in the sandbox and itself, of those that are there."""
        named = "." if path is None else path
        place = self._sandbox.read(named)
        if place is named:
            return [named]
        return [place, named] if self._sandbox.was_there(named) else [place]

    def _walk(self, original: Any, top: Any, *args: Any, **kwargs: Any) -> Any:
        """Folders that were not there before are named as they are in the sandbox."""
        for root, folders, files in original(top, *args, **kwargs):
            there = self._sandbox.was_there(root)
            yield (root if there else self._sandbox.read(root)), folders, files

    def _named(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Names or paths that a pattern gives, those written by the job as they are there."""
        names = original(*args, **kwargs)
        redirected = (self._redirected(name) for name in names)
        return list(redirected) if isinstance(names, list) else redirected

    def _redirected(self, name: Any) -> Any:
        """A path of the same type."""
        place = self._sandbox.read(name)
        return name if place is name else type(name)(place)

    def _unless_temporary(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """A folder that `tempfile` makes is made where it says."""

        def made(original: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(self._making, "temporary", False):
                return original(*args, **kwargs)
            return call(original, *args, **kwargs)

        return made

    def _temporary(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """A temporary file or folder is made."""
        # By thread: others may make folders at the same time, which do go to the sandbox.
        self._making.temporary = True
        try:
            made = original(*args, **kwargs)
        finally:
            self._making.temporary = False
        named: Any = made
        if isinstance(made, tuple):
            _, named = cast("tuple[int, Any]", made)
        path = getattr(named, "name", named)
        if isinstance(path, str):
            self._sandbox.leave_alone(path)
        return cast("Any", made)
