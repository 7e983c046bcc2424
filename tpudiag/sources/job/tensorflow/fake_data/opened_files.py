"""Files that Python itself opens and reads: text, JSON and arrays of NumPy."""

from __future__ import annotations

from typing import Any

from tpudiag.sources.job.points import hooks, table

from . import paths
from .holes import Hole
from .ledger import Ledger
from .open_texts import OpenFile, OpenText
from .text_files import plain


def install(ledger: Ledger) -> None:
    """Answer for files of folders that a notebook host mounts, and for JSON that was fetched."""

    def opened(original: Any, file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
        fetched = isinstance(file, str) and file.startswith(ledger.folder) and "plain" in file
        if (paths.is_hosted(file) or fetched) and str(mode).startswith("r"):
            ledger.note(str(file))
            if "b" not in str(mode):
                return OpenFile(str(file))
            file = plain(ledger)
        return original(file, mode, *args, **kwargs)

    def loaded(original: Any, fp: Any, *args: Any, **kwargs: Any) -> Any:
        away = isinstance(fp, OpenFile) or str(getattr(fp, "name", "")).startswith(ledger.folder)
        return Hole() if away else original(fp, *args, **kwargs)

    def parsed(original: Any, s: Any, *args: Any, **kwargs: Any) -> Any:
        return Hole() if isinstance(s, OpenText) else original(s, *args, **kwargs)

    hooks.around(table.FILE_OPENED, opened)
    hooks.around(table.JSON_LOADED, loaded)
    hooks.around(table.JSON_PARSED, parsed)


def watch_numpy(_: Any, ledger: Ledger) -> None:
    """Arrays that numpy.load would read."""

    def loaded(original: Any, file: Any, *args: Any, **kwargs: Any) -> Any:
        if not paths.is_absent(file):
            return original(file, *args, **kwargs)
        ledger.note(f"{file} (an array)")
        return Hole()

    hooks.around(table.ARRAY_LOADED, loaded)
