"""The [tool.tpudiag] section as users write it in pyproject.toml, read and checked."""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tpudiag.errors import UsageError
from tpudiag.options.option import PEOPLE, Option, choices, flags
from tpudiag.options.verbs import OF_VERB, options

SECTION = msgspec.defstruct(
    "Section",
    [
        *(
            (name, option.setting, msgspec.UNSET)
            for name, (_, option) in options("check").items()
            if option.setting is not None
        ),
        ("limits", dict[str, float], msgspec.UNSET),
        *((verb, dict[str, Any], msgspec.UNSET) for verb in OF_VERB),
    ],
    forbid_unknown_fields=True,
)
"""What may stand in the section: options of all verbs, the checks' limits by id, and for each verb
a table of its own options."""


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
    for verb in made.keys() & OF_VERB.keys():
        made[verb] = dict(_said(file, verb, made[verb]))
    return made


def _said(file: Path, verb: str, table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The options in a verb's table, each read as the command line reads it."""
    known = options(verb, PEOPLE)
    for name, given in table.items():
        kind, option = known.get(name, (None, Option(people=False)))
        if not option.people or option.setting is not None or flags(name, option)[0][0] != "-":
            raise UsageError(f"{file}: [tool.tpudiag.{verb}]: {name} cannot stand there")
        try:
            several = isinstance(given, list) and option.repeated
            read = [_read(kind, option, each) for each in (given if several else [given])]
        except (ValueError, argparse.ArgumentTypeError) as error:
            raise UsageError(f"{file}: [tool.tpudiag.{verb}]: {name}: {error}") from error
        # A path is one from the file's folder.
        read = [file.parent / each if isinstance(each, Path) else each for each in read]
        yield name, read if option.repeated else read[0]


def _read(kind: Any, option: Option, given: object) -> Any:
    """One value: ValueError, or argparse's own, where it is none of the option's."""
    if isinstance(given, bool) != (kind is bool) or not isinstance(given, (str, int, float)):
        raise ValueError(f"{given!r} is no value of it")
    value = given if kind is bool else option.kind.parse(str(given))
    if choices(kind) and value not in choices(kind):
        raise ValueError(f"{given!r} is none of {', '.join(choices(kind))}")
    return value
