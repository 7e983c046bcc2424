"""Folders of notebook hosts that Python itself is asked to list."""

from __future__ import annotations

import glob
import os
from typing import Any

from tpudiag.sources.job.tensorflow import hooks

from . import paths
from .ledger import Ledger
from .program_text import classes, sources

_PICTURES = 256
"""Names that such a folder is listed with."""


def install(ledger: Ledger) -> None:
    """Answer for folders that a notebook host mounts and this machine does not have."""

    def listed(original: Any, path: Any = ".") -> Any:
        if not paths.is_hosted(path):
            return original(path)
        ledger.note(f"{path} ({_PICTURES} pictures)")
        return [f"file-{number:05d}.jpg" for number in range(_PICTURES)]

    def matched(original: Any, pathname: Any, *args: Any, **kwargs: Any) -> Any:
        names = original(pathname, *args, **kwargs)
        if names or not paths.is_hosted(pathname):
            return names
        names = paths.matching(str(pathname), classes(sources()))
        ledger.note(f"{pathname} ({len(names)} files)")
        return names

    hooks.around(os, "listdir", listed)
    hooks.around(glob, "glob", matched)
