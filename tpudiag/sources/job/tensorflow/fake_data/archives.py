"""Archives that were stood in for and are unpacked by the script itself."""

from __future__ import annotations

import os
from typing import Any

from tpudiag.sources.job.points import hooks, table

from . import paths
from .ledger import Ledger


def install(ledger: Ledger) -> None:
    """Take what a script unpacks of a stand-in, which is empty, for unpacked."""

    def unpacked(archive: Any, path: Any = ".", *_: Any, **__: Any) -> None:
        name: Any = getattr(archive, "filename", None) or getattr(archive, "name", None)
        if isinstance(name, str) and name.startswith(ledger.folder):
            paths.unpack_in(os.path.abspath(path or "."))  # noqa: PTH100

    def removed(original: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        # A part of an archive that the script does without.
        return None if paths.is_hosted(path) else original(path, *args, **kwargs)

    hooks.around(table.FOLDER_REMOVED, removed)
    hooks.before(table.ARCHIVE_UNPACKED, unpacked)
