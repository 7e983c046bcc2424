"""[tool.tpudiag] of pyproject.toml, and the command line over it, as frozen Settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from tpudiag.bounded_files import read_bytes
from tpudiag.errors import UsageError
from tpudiag.records import dataclass


@dataclass(frozen=True)
class Settings:
    """Which checks run, and with which limits.

    An id selects one check, a family such as `TPU2` all of its hundreds; `ignore` wins.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    python: str | None = None
    """The Python that jobs run in; a path is one from the folder of the file."""
    pedantic: bool = False
    """Findings of low confidence are shown too."""

    def selects(self, id_: str) -> bool:
        """Whether the check with this id is to run."""
        # `startswith` of no prefix at all is False: without `ignore` nothing is left out.
        return (not self.select or id_.startswith(self.select)) and not id_.startswith(self.ignore)

    def narrowed(
        self, select: tuple[str, ...], ignore: tuple[str, ...], *, pedantic: bool = False
    ) -> Settings:
        """With the command line's --select in place of, and its --ignore added to, the file's."""
        return replace(
            self,
            select=select or self.select,
            ignore=self.ignore + ignore,
            pedantic=pedantic or self.pedantic,
        )


def load(folder: Path) -> Settings:
    """The settings of a folder. Raises UsageError."""
    from tpudiag.options.verbs import request_of

    return request_of(Settings, _section(folder))


def of_verb(verb: str, folder: Path) -> Mapping[str, Any]:
    """What the file says of a verb's own options, by name. Raises UsageError."""
    written: Mapping[str, Any] = _section(folder).get(verb, {})
    return written


def _section(folder: Path) -> Mapping[str, Any]:
    """That of the nearest pyproject.toml at or above `folder` which has the section."""
    for directory in (folder, *folder.parents):
        file = directory / "pyproject.toml"
        if file.is_file() and (section := _written(file)) is not None:
            return section
    return {}


def _written(file: Path) -> Mapping[str, Any] | None:
    try:
        data = read_bytes(file)
    except OSError as error:
        raise UsageError(f"{file}: {error}") from error
    if b"tpudiag" not in data:
        return None
    # Few files have the section, and what reads it takes a tenth of a small verb's time to import.
    from tpudiag.settings_file import section

    return section(file, data)
