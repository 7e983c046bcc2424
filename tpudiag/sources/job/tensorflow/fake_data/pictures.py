"""Pictures that Python itself opens, of folders that a notebook host mounts: PIL and OpenCV."""

from __future__ import annotations

import importlib
from typing import Any

from tpudiag.sources.job.points import hooks, table

from . import folders, paths
from .ledger import Ledger
from .text_files import SIZE


class Pictures:
    """Hands out one picture for each that is not there."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def watch_pil(self, _: Any) -> None:
        """PIL.Image, through which matplotlib and Keras read as well."""

        # `fp` and `filename` below are the packages' own names, by which scripts give them.
        def opened(original: Any, fp: Any, *args: Any, **kwargs: Any) -> Any:
            return original(self._chosen(fp), *args, **kwargs)

        hooks.around(table.PICTURE_OPENED, opened)

    def watch_opencv(self, module: Any) -> None:
        """OpenCV, which gives None for what is not there."""

        def read(original: Any, filename: Any, *args: Any, **kwargs: Any) -> Any:
            chosen = self._chosen(filename)
            if chosen == filename:
                return original(filename, *args, **kwargs)
            numpy: Any = importlib.import_module("numpy")
            gray = (args[0] if args else kwargs.get("flags")) == module.IMREAD_GRAYSCALE
            return numpy.full((SIZE, SIZE) if gray else (SIZE, SIZE, 3), 127, dtype="uint8")

        hooks.around(table.PICTURE_READ, read)

    def _chosen(self, file: Any) -> Any:
        """The file, or the picture that stands in for it."""
        if not paths.is_hosted(file):
            return file
        self._ledger.note(f"{file} (a picture of {SIZE} x {SIZE})")
        return folders.picture(self._ledger)
