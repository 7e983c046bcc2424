"""Runs changed sources in the place of files: the files stay, and all but their code is as it was.

`__file__`, the working folder, sys.path and tracebacks are those of the file; imports, AutoGraph
and tracebacks read the changed lines.
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
"""Real path of a file -> the source that stands in for it."""


def install(pairs: Sequence[Sequence[str]]) -> None:
    """Let each first file be read as what its second one holds."""
    for file, stand_in in pairs:
        _changed[os.path.realpath(file)] = Path(stand_in).read_bytes()
    if not _changed:
        return
    # First, for Python's own finder would read the file, or its bytecode in __pycache__, which is
    # that of the unchanged source.
    sys.meta_path.insert(0, _Finder())
    # Tracebacks, inspect.getsource and AutoGraph all read source through linecache; with the lines
    # of the file on disk AutoGraph would compile the old code.

    def updatecache(
        original: Callable[[str, object], list[str]], filename: str, module_globals: object = None
    ) -> list[str]:
        data = source(filename) if filename else None
        if data is None:
            return original(filename, module_globals)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        lines = io.TextIOWrapper(io.BytesIO(data), encoding).read().splitlines(keepends=True)
        # without a time of change, so that it is never read from the file again
        linecache.cache[filename] = (len(data), None, lines, filename)
        return lines

    hooks.around(table.SOURCE_READ, updatecache)


def source(file: str) -> bytes | None:
    """What stands in for a file; None for a file that is as it is."""
    return _changed.get(os.path.realpath(file)) if _changed else None


class _Loader(SourceFileLoader):
    """Loads a module from what stands in for its file; no bytecode of the file is read."""

    def get_code(self, fullname: str) -> CodeType | None:  # noqa: ARG002
        """The module's code."""
        # dont_inherit: this module's own `from __future__ import annotations` would else hold in
        # the job's code, and change what its annotations are.
        return compile(source(self.path) or b"", self.path, "exec", dont_inherit=True)

    def get_data(self, path: str | bytes) -> bytes:
        """The source, for those who ask the loader for it."""
        data = source(os.fsdecode(path))
        return super().get_data(os.fsdecode(path)) if data is None else data


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules whose files are stood in for."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that Python's own finder gives, with another loader; None for all others."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or source(spec.origin) is None:
            return None
        spec.loader = _Loader(name, spec.origin)
        linecache.updatecache(spec.origin)
        return spec
