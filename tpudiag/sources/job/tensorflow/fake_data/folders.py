"""Folders of notebook hosts that Python itself is asked to list."""

from __future__ import annotations

import ast
import os
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from tpudiag.sources.job.points import hooks, table

from . import paths
from .ledger import Ledger
from .program_text import classes, sources, trees
from .text_files import JPEG, WORDS

_CUT = re.compile(r"""split\(\s*["']_["']\s*\)\s*\[0\]""")
_LISTS = {"listdir", "glob", "iglob", "scandir", "isdir"}


def install(ledger: Ledger) -> None:
    """Answer for folders that a notebook host mounts and this machine does not have."""
    folders = _Folders(ledger)
    hooks.around(table.PATHS_MATCHED, folders.matched_below)
    hooks.around(table.PATHS_LISTED, folders.iterated)
    hooks.around(table.FOLDER_LISTED, folders.listed)
    hooks.around(table.FOLDER_WALKED, folders.walked)
    hooks.around(table.FILES_MATCHED, folders.matched)


class _Folders:
    """What `os`, `glob` and `pathlib` say of a folder that is stood in for."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._above: set[str] = set()
        """Folders that were listed as one for each class: what is below holds pictures."""

    def listed(self, original: Any, path: Any = ".") -> Any:
        """`os.listdir`."""
        if not paths.is_hosted(path):
            return original(path)
        program = sources()
        folder = str(path).rstrip("/")
        if lists_folders(program) and os.path.dirname(folder) not in self._above:  # noqa: PTH120
            self._above.add(folder)
            self._ledger.note(f"{path} (a folder for each class)")
            return list(classes(program))
        listed = paths.pictures_listed()
        self._ledger.note(f"{path} ({listed} pictures)")
        return _pictures(listed)

    def walked(self, original: Any, top: Any, *args: Any, **kwargs: Any) -> Any:
        """`os.walk`."""
        if not paths.is_hosted(top):
            return original(top, *args, **kwargs)
        labels = list(classes(sources()))
        names = _pictures(paths.pictures_of_each(len(labels)))
        self._ledger.note(f"{top} (a folder of {len(names)} pictures for each class)")
        none: list[str] = []
        inner = [(os.path.join(top, label), none, names) for label in labels]  # noqa: PTH118
        return iter([(str(top), labels, none), *inner])

    def matched(self, original: Any, pathname: Any, *args: Any, **kwargs: Any) -> Any:
        """`glob.glob`."""
        names = original(pathname, *args, **kwargs)
        if names or not paths.is_hosted(pathname):
            return names
        return _matching(self._ledger, str(pathname))

    def matched_below(
        self, original: Any, path: Any, pattern: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """`Path.glob` and `Path.rglob`."""
        if not paths.is_hosted(path):
            return original(path, pattern, *args, **kwargs)
        if str(pattern) != "*":
            return map(pathlib.Path, _matching(self._ledger, str(path / pattern)))
        # Scripts list their classes so.
        self._ledger.note(f"{path} (a folder for each class)")
        return iter([path / name for name in classes(sources())])

    def iterated(self, original: Any, path: Any) -> Any:
        """`Path.iterdir`."""
        if not paths.is_hosted(path):
            return original(path)
        names = os.listdir(str(path))  # noqa: PTH208
        return iter([path / name for name in names])


def _matching(ledger: Ledger, pattern: str) -> list[str]:
    """Files that match a pattern."""
    names = paths.matching(pattern, classes(sources()))
    ledger.note(f"{pattern} ({len(names)} files)")
    return names


def pictures_of(ledger: Ledger, name: str, labels: Sequence[str]) -> str:
    """A folder with a folder of pictures for each class, on this machine's disk."""
    folder = os.path.join("archives", name)  # noqa: PTH118
    for label in labels:
        for file in _pictures(paths.pictures_of_each(len(labels))):
            ledger.file(os.path.join(folder, label, file), _write)  # noqa: PTH118
    return os.path.join(ledger.folder, folder)  # noqa: PTH118


def texts_of(ledger: Ledger, name: str, labels: Sequence[str]) -> str:
    """A folder with a folder of texts for each class, on this machine's disk."""
    folder = os.path.join("texts", name)  # noqa: PTH118
    words = WORDS.split()
    for at, label in enumerate(labels):
        for number in range(paths.pictures_of_each(len(labels))):
            cut = (number + at) % len(words)
            text = " ".join(words[cut:] + words[:cut])
            file = os.path.join(folder, label, f"{number:05d}.txt")  # noqa: PTH118
            ledger.file(file, lambda path, text=text: _write_text(path, text))  # type: ignore[misc]
    return os.path.join(ledger.folder, folder)  # noqa: PTH118


def _write_text(path: str, text: str) -> None:
    """Write a text."""
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


def picture(ledger: Ledger) -> str:
    """One picture on this machine's disk."""
    return ledger.file("picture.jpg", _write)


def _write(path: str) -> None:
    """Write the picture."""
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(JPEG)


def _pictures(count: int) -> list[str]:
    """Names of so many pictures: of parts of pictures, where a script cuts a name at `_`."""
    part = "_0" if any(_CUT.search(text) for text in sources()) else ""
    return [f"file-{number:05d}{part}.jpg" for number in range(count)]


def lists_folders(texts: Iterable[str]) -> bool:
    """Whether a script lists folders that it found by listing one: a loop in a loop."""
    for tree in trees(texts):
        nodes = list(ast.walk(tree))
        loops = [node for node in nodes if isinstance(node, ast.For) and _lists(node.iter)]
        if any(_lists(inner) for loop in loops for inner in loop.body):
            return True
    return False


def _lists(node: ast.AST) -> bool:
    """Whether something in it lists a folder."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(
        (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in _LISTS
        for func in calls
    )
