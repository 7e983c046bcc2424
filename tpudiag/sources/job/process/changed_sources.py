"""Runs changed sources in place of files, which stay unchanged on disk.

`__file__`, the working folder, sys.path and tracebacks are the file's; imports, AutoGraph and
tracebacks read the changed lines.
"""

import importlib.abc
import importlib.machinery
import io
import linecache
import os
import sys
import tokenize
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tpudiag.sources.job.points import hooks, table

_changed: dict[str, bytes] = {}
"""Real path of a file -> the source that replaces it."""


def install(pairs: Sequence[Sequence[str]]) -> None:
    """Replace the source of each first file by the content of its second."""
    for file, stand_in in pairs:
        _changed[os.path.realpath(file)] = Path(stand_in).read_bytes()
    if not _changed:
        return
    # First, since Python's own finder would read the file, or the unchanged source's bytecode in
    # __pycache__.
    sys.meta_path.insert(0, _Finder())
    # Tracebacks, inspect.getsource and AutoGraph read source through linecache; with the lines on
    # disk AutoGraph would compile the old code.

    def updatecache(
        original: Callable[[str, object], list[str]], filename: str, module_globals: object = None
    ) -> list[str]:
        data = source(filename) if filename else None
        if data is None:
            return original(filename, module_globals)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        lines = io.TextIOWrapper(io.BytesIO(data), encoding).read().splitlines(keepends=True)
        # without a modification time, so that it is never reloaded from the file
        linecache.cache[filename] = (len(data), None, lines, filename)
        return lines

    hooks.around(table.SOURCE_READ, updatecache)


def source(file: str) -> bytes | None:
    """A file's replacement source; None for an unchanged file."""
    return _changed.get(os.path.realpath(file)) if _changed else None


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:  # noqa: ARG002
        """The module's code."""
        # dont_inherit: this module's own `from __future__ import annotations` must not apply to the
        # job's code.
        return compile(source(self.path) or b"", self.path, "exec", dont_inherit=True)

    def get_data(self, path: str | bytes) -> bytes:
        """The source, for callers of the loader's API."""
        data = source(os.fsdecode(path))
        return super().get_data(os.fsdecode(path)) if data is None else data


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of Python's own finder with another loader; None for all others."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or source(spec.origin) is None:
            return None
        spec.loader = _Loader(name, spec.origin)
        linecache.updatecache(spec.origin)
        return spec
