"""Folders of notebook hosts that Python itself is asked to list.

Names alone are made up: what reads such a file fails, and the statement that does is passed over.
"""

import os
import pathlib

from tpudiag.sources.job.points import Call, hooks, table

from . import paths
from .ledger import CLASSES, Ledger


def install(ledger: Ledger) -> None:
    """Answer for folders that a notebook host mounts and this machine does not have."""

    def answered(path: object, names: list[str]) -> list[str]:
        ledger.note(f"{path} ({len(names)} names)")
        return names

    def listed(original: Call, path: object = ".") -> object:
        if not paths.is_hosted(path):
            return original(path)
        return answered(path, [os.path.basename(name) for name in paths.matching("*.jpg")])  # noqa: PTH119

    def walked(original: Call, top: str, *args: object, **kwargs: object) -> object:
        if not paths.is_hosted(top):
            return original(top, *args, **kwargs)
        names, none = listed(original, top), list[str]()
        inner = [(os.path.join(top, label), none, names) for label in CLASSES]  # noqa: PTH118
        return iter([(str(top), list(CLASSES), none), *inner])

    def matched(original: Call, pathname: object, *args: object, **kwargs: object) -> object:
        names = original(pathname, *args, **kwargs)
        if names or not paths.is_hosted(pathname):
            return names
        return answered(pathname, paths.matching(str(pathname)))

    def matched_below(
        original: Call, path: pathlib.Path, pattern: str, *args: object, **kwargs: object
    ) -> object:
        if not paths.is_hosted(path):
            return original(path, pattern, *args, **kwargs)
        return map(pathlib.Path, answered(path / pattern, paths.matching(str(path / pattern))))

    def iterated(original: Call, path: pathlib.Path) -> object:
        if not paths.is_hosted(path):
            return original(path)
        return iter([path / name for name in os.listdir(str(path))])  # noqa: PTH208

    hooks.around(table.FOLDER_LISTED, listed)
    hooks.around(table.FOLDER_WALKED, walked)
    hooks.around(table.FILES_MATCHED, matched)
    hooks.around(table.PATHS_MATCHED, matched_below)
    hooks.around(table.PATHS_LISTED, iterated)
