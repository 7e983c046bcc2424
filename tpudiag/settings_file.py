"""The [tool.tpudiag] section as users write it in pyproject.toml, read and checked."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import msgspec

from tpudiag.errors import UsageError


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section: `ignore` is a table of id = "reason"."""

    select: list[str] = msgspec.field(default_factory=list[str])
    ignore: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    limits: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    python: str | None = None
    """A path is one from the folder of the file."""
    pedantic: bool = False


def section(file: Path, data: bytes) -> Section | None:
    """The section of a file with these bytes, None where it has none; raises UsageError."""
    try:
        document = tomllib.loads(data.decode())
    # Of a number with thousands of digits Python's own error; of tables in tables the stack's.
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: {' '.join(str(error).split())}") from error
    tool = document.get("tool")
    raw: object = tool.get("tpudiag") if isinstance(tool, dict) else None  # pyright: ignore
    if raw is None:
        return None
    try:
        made = msgspec.convert(raw, Section)
    except msgspec.ValidationError as error:
        raise UsageError(f"{file}: [tool.tpudiag]: {error}") from error
    # As with a comment on a line: what is silenced without a reason nobody dares to let speak
    # again.
    unexplained = [id_ for id_, reason in made.ignore.items() if not reason.strip()]
    if unexplained:
        raise UsageError(f"{file}: [tool.tpudiag.ignore]: {unexplained[0]} needs a reason")
    python = made.python
    if python is not None and (os.sep in python or python.startswith(".")):
        made = msgspec.structs.replace(made, python=str(file.parent / Path(python).expanduser()))
    return made
