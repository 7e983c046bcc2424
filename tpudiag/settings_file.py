"""The [tool.tpudiag] section as users write it in pyproject.toml, read and checked."""

import argparse
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from tpudiag.errors import UsageError
from tpudiag.options.option import PEOPLE, Option, choices, flags
from tpudiag.options.verbs import OF_VERB, options

OF_ALL = frozenset(("select", "pedantic", "python"))
"""Options that hold for all verbs, and stand in the section itself."""
BY_ID: Mapping[str, tuple[type, ...]] = {"ignore": (str,), "limits": (int, float)}
"""Tables of checks: why one is not to run, and which limit it has."""


def section(file: Path, data: bytes) -> dict[str, Any] | None:
    """The section of a file with these bytes, None where it has none; raises UsageError.

    `ignore` is a table of id = "reason" there, and a path of `python` one from the file's folder.
    Each verb has a table of its options.
    """
    try:
        document = tomllib.loads(data.decode())
    # Of a number with thousands of digits Python's own error; of tables in tables the stack's.
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: {' '.join(str(error).split())}") from error
    tool: Any = document.get("tool")
    own: Any = tool.get("tpudiag") if isinstance(tool, dict) else None  # pyright: ignore
    if own is None:
        return None
    tables: dict[str, Any] = {"": own}
    for name in (*BY_ID, *OF_VERB):
        if isinstance(own, dict) and name in own:
            tables[name] = own.pop(name)  # pyright: ignore
    for name, table in tables.items():
        kinds = BY_ID.get(name)
        if not isinstance(table, dict) or (
            kinds is not None
            and not all(type(v) in kinds for v in cast("dict[str, Any]", table).values())
        ):
            raise UsageError(f"{file}: [tool.tpudiag{name and '.' + name}] is no table of its kind")
    # As with a comment on a line: what is silenced without a reason nobody dares to let speak
    # again.
    unexplained = [id_ for id_, reason in tables.get("ignore", {}).items() if not reason.strip()]
    if unexplained:
        raise UsageError(f"{file}: [tool.tpudiag.ignore]: {unexplained[0]} needs a reason")
    made = dict(_said(f"{file}: [tool.tpudiag]", file.parent, "check", tables[""], OF_ALL))
    if os.sep in made.get("python", "") or made.get("python", "").startswith("."):
        made["python"] = str(file.parent / Path(made["python"]).expanduser())
    for verb in tables.keys() & OF_VERB.keys():
        title, names = f"{file}: [tool.tpudiag.{verb}]", options(verb, PEOPLE).keys() - OF_ALL
        made[verb] = dict(_said(title, file.parent, verb, tables[verb], names - BY_ID.keys()))
    return made | {"ignore": list(tables.get("ignore", ())), "limits": tables.get("limits", {})}


def _said(
    title: str, folder: Path, verb: str, said: Mapping[str, Any], names: frozenset[str] | set[str]
) -> Iterator[tuple[str, Any]]:
    """Options of a verb, each read as the command line reads it; a path is one from the folder."""
    known = options(verb, PEOPLE)
    for name, given in said.items():
        kind, option = known[name] if name in names else (None, Option(people=False))
        if not option.people or flags(name, option)[0][0] != "-":
            raise UsageError(f"{title}: {name} cannot stand there")
        try:
            is_list = isinstance(given, list) and option.repeated
            several = cast("list[Any]", given if is_list else [given])
            read = [_read(kind, option, each) for each in several]
        except (ValueError, argparse.ArgumentTypeError) as error:
            raise UsageError(f"{title}: {name}: {error}") from error
        if option.repeated == "extend":
            read = [each for some in read for each in some]
        read = [folder / each if isinstance(each, Path) else each for each in read]
        yield name, read if option.repeated else read[0]


def _read(kind: Any, option: Option, given: object) -> Any:
    """One value: ValueError, or argparse's own, where it is none of the option's."""
    if isinstance(given, bool) != (kind is bool) or not isinstance(given, (str, int, float)):
        raise ValueError(f"{given!r} is no value of it")
    value = given if kind is bool else option.kind.parse(str(given))
    if choices(kind) and value not in choices(kind):
        raise ValueError(f"{given!r} is none of {', '.join(choices(kind))}")
    return value
