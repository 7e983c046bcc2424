"""Runs changed sources in place of files, which stay unchanged on disk.

`__file__`, the working folder, sys.path and tracebacks are the file's; imports, AutoGraph and
tracebacks read the changed lines.
"""

import io
import linecache
import os
import tokenize
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tpudiag.sources.job.points import Call, hooks, table

_changed: dict[str, bytes] = {}
"""Real path of a file -> the source that replaces it."""


def install(pairs: Sequence[Sequence[str]]) -> None:
    """Replace the source of each first file by the content of its second."""
    for file, stand_in in pairs:
        _changed[os.path.realpath(file)] = Path(stand_in).read_bytes()
    if not _changed:
        return
    hooks.around(table.MODULE_COMPILED, _compiled)
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


def _compiled(original: Call, loader: Any, name: str) -> object:
    """A module's code: that of its changed source, and none in __pycache__."""
    file = str(loader.get_filename(name))
    text = source(file)
    if text is None:
        return original(loader, name)
    linecache.updatecache(file)
    # dont_inherit: a `from __future__` of this module must not apply to the job's code.
    return compile(text, file, "exec", dont_inherit=True)
