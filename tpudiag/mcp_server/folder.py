"""The folder that a server was started in: nothing outside it is opened for an agent."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tpudiag.errors import UsageError
from tpudiag.options.option import AGENTS
from tpudiag.options.verbs import options


class Folder:
    """Holds the paths that an agent names to one folder, links followed."""

    def __init__(self, top: Path) -> None:
        self.top = top.resolve()

    def path(self, name: str) -> str:
        """A file or folder within, by its path from the top; raises UsageError.

        A folder is within where every link below it leads to a place that is.
        """
        # `gs://` and `~` are resolved by others later on, past this guard.
        if "\0" in name or "://" in name or name.startswith("~") or not name:
            raise UsageError(f"{name!r}: name a path in {self.top}")
        if not self._holds(self.top / name):
            raise UsageError(f"{self.top / name}: outside {self.top}")
        place = (self.top / name).resolve()
        if not os.path.exists(place):  # noqa: PTH110  (no error where the name is too long)
            raise UsageError(f"{name}: not in {self.top}")
        # Profiles are looked for in the whole folder: a link in it would lead a reader out.
        for link in _links(place) if place.is_dir() else ():
            if not self._holds(link):
                raise UsageError(f"{name}: {link.name} in it leads out of {self.top}")
        return os.path.relpath(place, self.top)

    def module(self, name: str) -> str:
        """A module whose file is within; raises UsageError."""
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            raise UsageError(f"{name}: not the name of a module")
        whole = self.top.joinpath(*parts)
        files = (whole.with_suffix(".py"), whole / "__init__.py", whole / "__main__.py")
        if not any(file.is_file() and self._holds(file) for file in files):
            raise UsageError(f"{name}: no module in {self.top}")
        return name

    def program(self, name: str) -> str:
        """A script, a notebook or `module:function` within; raises UsageError."""
        module, colon, function = name.partition(":")
        # A file may have a colon in its name.
        if colon and function.isidentifier() and not (self.top / name).exists():
            return f"{self.module(module)}:{function}"
        path = self.path(name)
        if (self.top / path).is_dir():
            raise UsageError(f"{name}: a folder, not a script")
        return path

    def _holds(self, path: Path) -> bool:
        """Whether a path, links followed, stays within; one that goes in circles does not."""
        try:
            return path.resolve().is_relative_to(self.top)
        except (OSError, RuntimeError):
            return False


def _links(folder: Path) -> Iterator[Path]:
    """Every link at or below a folder; linked folders are entered once."""
    seen: set[str] = set()
    for name, below, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(name)
        if real in seen:
            # os.walk enters what is left in this list: links in a circle would never end.
            below.clear()
            continue
        seen.add(real)
        links = [Path(name, entry) for entry in (*below, *files) if Path(name, entry).is_symlink()]
        yield from links


def held(name: str, given: dict[str, Any], folder: Folder) -> dict[str, Any]:
    """The arguments of a tool with every path in them held to the folder; raises UsageError."""
    ways = {"program": folder.program, "module": folder.module, "path": folder.path}
    changed = dict(given)
    for key, (_, option) in options(name, AGENTS).items():
        value = given.get(key)
        if option.in_folder and value is not None:
            hold = ways[option.in_folder]
            changed[key] = hold(value) if isinstance(value, str) else [hold(v) for v in value]
    return changed
