"""The [tool.tpudiag] section as users write it in pyproject.toml, read and checked."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from tpudiag.errors import UsageError
from tpudiag.options.verbs import options

SECTION = msgspec.defstruct(
    "Section",
    [
        *(
            (name, option.setting, msgspec.UNSET)
            for name, (_, option) in options("check").items()
            if option.setting is not None
        ),
        ("limits", dict[str, float], msgspec.UNSET),
    ],
    forbid_unknown_fields=True,
)
"""The options that may stand in the section, and the checks' limits by id."""


def section(file: Path, data: bytes) -> dict[str, Any] | None:
    """The section of a file with these bytes, None where it has none; raises UsageError.

    `ignore` is a table of id = "reason" there, and a path of `python` one from the file's folder.
    """
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
        made: dict[str, Any] = msgspec.structs.asdict(msgspec.convert(raw, SECTION))
    except msgspec.ValidationError as error:
        raise UsageError(f"{file}: [tool.tpudiag]: {error}") from error
    # As with a comment on a line: what is silenced without a reason nobody dares to let speak
    # again.
    made = {name: value for name, value in made.items() if value is not msgspec.UNSET}
    ignored: dict[str, str] = made.get("ignore", {})
    unexplained = [id_ for id_, reason in ignored.items() if not reason.strip()]
    if unexplained:
        raise UsageError(f"{file}: [tool.tpudiag.ignore]: {unexplained[0]} needs a reason")
    made["ignore"], python = list(ignored), made.get("python")
    if python is not None and (os.sep in python or python.startswith(".")):
        made["python"] = str(file.parent / Path(python).expanduser())
    return made
