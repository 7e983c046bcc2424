"""The cases of the data files, checked and made into one file that is read quickly.

`cases/*/*.toml` are the source of truth: one subject a file, one room a folder; a file's `phase`
is that of its cases that name none. A wheel holds the compiled file alone; in a source tree it is
made anew whenever a data file is newer.
"""

import json
import os
import re
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, cast

from tpudiag.known_errors.literals import anchor, squeezed_pattern

FOLDER = Path(__file__).parent / "cases"
COMPILED = Path(__file__).parent / "cases.json"
MAKERS = (Path(__file__), Path(__file__).with_name("literals.py"))

_PARTS = ("narrower", "one_of")
_LISTS = ("says", "details", "source", "families", "of", *_PARTS)
_FLAGS = ("open", "rehearsal_only", "whole", "likely", "of_data")
_TYPES = {**dict.fromkeys(_LISTS, list), **dict.fromkeys(_FLAGS, bool), "depth": int, "when": dict}
"""The type of each field that is no text."""
_FIELDS = {
    "narrower": ("cause fix", "says when hit likely whole"),
    "one_of": ("cause look_for", "says decide fix families"),
    "silent": ("id reason", ""),
    "shared": ("of narrower", ""),
    "case": (
        "id family cause fix hit",
        "says phase details source level kind useless known miss depth open rehearsal_only whole"
        " of_data narrower one_of",
    ),
}
"""By the kind of a table: the fields that it must have, and those that it may have."""
_FRAGMENT = re.compile(r"\{\{(\w+)\}\}")


class Cases(TypedDict):
    """What the data files hold."""

    case: list[dict[str, Any]]
    silent: list[dict[str, Any]]
    shared: list[dict[str, Any]]
    """Narrower cases that several cases share: `of` their families."""
    names: dict[str, dict[str, str]]
    """By its kind a table of names: moved (by both modules), replaced, arguments, ..."""
    anchors: dict[str, str]
    """By a pattern the literal that it is looked for by."""


class BadCase(ValueError):
    """A data file that does not have the form of one."""


@cache
def cases() -> Cases:
    """The cases of this installation, read once."""
    return load()


def names() -> dict[str, dict[str, str]]:
    """The tables of names that moved, went or came, by their kind."""
    return cases()["names"]


@cache
def wording(name: str) -> re.Pattern[str]:
    """One of the forms of words in the data files, by the module that reads it and its name."""
    return re.compile(names()["forms"][name])


@cache
def wordings(name: str) -> tuple[re.Pattern[str], ...]:
    """Several of one kind, in their order."""
    return tuple(map(re.compile, names()["forms"][name].split("\n")))


def load(folder: Path = FOLDER, compiled: Path = COMPILED) -> Cases:
    """All cases; compiled anew where a data file is newer than what was compiled."""
    if not _is_stale(folder, compiled):
        text = compiled.read_text(encoding="utf-8")
    else:
        text = json.dumps(read(folder), ensure_ascii=False, separators=(",", ":"))
        with suppress(OSError):  # where nobody may write it is read from its sources each time
            own = compiled.with_suffix(f".{os.getpid()}")  # no other process sees it in part
            own.write_text(text, encoding="utf-8")
            own.replace(compiled)
    cases: Cases = json.loads(text)
    return cases


def read(folder: Path, without: Collection[str] = ()) -> Cases:
    """The cases of a folder's data files, checked; raises BadCase.

    `without`: rooms whose cases are left out.
    """
    import tomllib  # only where a data file is newer than what was compiled

    cases = Cases(case=[], silent=[], shared=[], names={}, anchors={})
    fragments: dict[str, str] = {}
    for path in sorted(folder.glob("*/*.toml")):
        if path.parent.name in without:
            continue
        with path.open("rb") as stream:
            tables = tomllib.load(stream)
        fragments |= tables.pop("fragments", {})
        for_all = {name: tables.pop(name) for name in ("phase", "of_data") if name in tables}
        of_id: Any = tables.pop("case", {})
        tables["case"] = [{"id": id_, **for_all, **row} for id_, row in of_id.items()]
        for kind, names in tables.pop("names", {}).items():
            of_kind = cases["names"].setdefault(kind, {})
            for name, each in names.items():  # of tables by the keys of both
                inner: dict[str, str] = cast(Any, each) if isinstance(each, dict) else {}
                of_kind |= {f"{name} {key}": text for key, text in inner.items()} or {name: each}
        for kind, rows in tables.items():
            into = {"case": cases["case"], "silent": cases["silent"], "shared": cases["shared"]}
            if kind not in into:
                raise BadCase(f"{path}: no table is called {kind}")
            for row in rows:
                _check(kind, row, f"{path}: {row.get('id', kind)}")
            into[kind] += rows
    for row in (*cases["case"], *cases["shared"]):
        _put_together(row, fragments)
    for name, text in cases["names"].get("forms", {}).items():
        cases["names"]["forms"][name] = _FRAGMENT.sub(lambda hole: fragments[hole[1]], text)
    for row in cases["case"]:
        for part in (row, *row.get("one_of", ())):
            said = part.get("says", ())
            cases["anchors"] |= {each: anchor(squeezed_pattern(each)) for each in said}
    return cases


def _put_together(row: dict[str, Any], fragments: dict[str, str]) -> None:
    """Put the named fragments into the patterns and fixes of a case and of the parts within it."""

    def filled(pattern: str) -> str:
        try:
            return _FRAGMENT.sub(lambda hole: fragments[hole[1]], pattern)
        except KeyError as missing:
            raise BadCase(f"no fragment is called {missing}") from None

    for name in ("says", "when", "fix"):
        asked = row.get(name)
        if isinstance(asked, str):
            row[name] = filled(asked)
        elif isinstance(asked, dict):
            row[name] = {fact: filled(each) for fact, each in cast(Any, asked).items()}
        elif asked:
            row[name] = [filled(each) for each in asked]
    for part in (each for name in _PARTS for each in row.get(name, ())):
        _put_together(part, fragments)


def _check(kind: str, row: dict[str, Any], where: str) -> None:
    """Refuse a table with a field too few, too many or of another type."""
    needed, others = (set(each.split()) for each in _FIELDS[kind])
    if missing := needed - row.keys():
        raise BadCase(f"{where}: {kind} lacks {', '.join(sorted(missing))}")
    if unknown := row.keys() - needed - others:
        raise BadCase(f"{where}: {kind} has no {', '.join(sorted(unknown))}")
    if kind == "narrower" and not row.keys() & {"says", "when"}:
        raise BadCase(f"{where}: narrower lacks says or when")
    for name, value in row.items():
        here: Any = {("hit", "case"): (str, list), ("says", "narrower"): str}
        if not isinstance(value, here.get((name, kind), _TYPES.get(name, str))):
            raise BadCase(f"{where}: {name} is of another type")
        for part in value if name in _PARTS else ():
            _check(name, part, where)


def _is_stale(folder: Path, compiled: Path) -> bool:
    """Whether a data file is newer than what was compiled; a wheel has no data files."""
    if not compiled.is_file():
        return True
    made = compiled.stat().st_mtime_ns
    rooms = [room for room in folder.glob("*") if room.is_dir()]  # none in a wheel
    files = [*MAKERS, *rooms, *(file for room in rooms for file in room.iterdir())]
    # What compiles them changes what is compiled.
    return bool(rooms) and any(file.stat().st_mtime_ns > made for file in files)
