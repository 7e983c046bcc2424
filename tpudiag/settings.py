"""[tool.tpudiag] of pyproject.toml, and the command line over it, as frozen Settings."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

import msgspec

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
        return (not self.select or id_.startswith(self.select)) and not id_.startswith(
            self.ignore or ("\0",)
        )

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


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section as users write it: `ignore` is a table of id = "reason"."""

    select: list[str] = msgspec.field(default_factory=list[str])
    ignore: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    limits: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    python: str | None = None
    pedantic: bool = False


def load(folder: Path) -> Settings:
    """The settings of the nearest pyproject.toml at or above `folder` that has the section."""
    for directory in (folder, *folder.parents):
        file = directory / "pyproject.toml"
        if file.is_file() and (section := _section(file)) is not None:
            return section
    return Settings()


def _section(file: Path) -> Settings | None:
    """The [tool.tpudiag] section of one file, None where it has none."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: {error}") from error
    tool = document.get("tool")
    raw: object = tool.get("tpudiag") if isinstance(tool, dict) else None  # pyright: ignore
    if raw is None:
        return None
    try:
        section = msgspec.convert(raw, _Section)
    except msgspec.ValidationError as error:
        raise UsageError(f"{file}: [tool.tpudiag]: {error}") from error
    unexplained = [id_ for id_, reason in section.ignore.items() if not reason.strip()]
    if unexplained:
        raise UsageError(f"{file}: [tool.tpudiag.ignore]: {unexplained[0]} needs a reason")
    python = section.python
    if python is not None and (os.sep in python or python.startswith(".")):
        python = str(file.parent / Path(python).expanduser())
    return Settings(
        tuple(section.select), tuple(section.ignore), section.limits, python, section.pedantic
    )
