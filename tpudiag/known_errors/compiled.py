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

from tpudiag.known_errors.literals import prepared

FOLDER = Path(__file__).parent / "cases"
COMPILED = Path(__file__).parent / "cases.json"
MAKERS = (Path(__file__), Path(__file__).with_name("literals.py"))

_LISTS = frozenset({"says", "details", "source", "families", "of"})
_FLAGS = frozenset({"open", "rehearsal_only", "whole", "likely", "of_data"})
_PARTS = ("narrower", "one_of")
_FIELDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "narrower": (
        frozenset({"cause", "fix"}),
        frozenset({"says", "when", "hit", "likely", "whole"}),
    ),
    "one_of": (
        frozenset({"cause", "look_for"}),
        frozenset({"says", "decide", "fix", "families"}),
    ),
    "silent": (frozenset({"id", "reason"}), frozenset()),
    "shared": (frozenset({"of", "narrower"}), frozenset()),
    "case": (
        frozenset({"id", "family", "cause", "fix", "hit"}),
        frozenset({"says", "phase", "details", "source", "level", "kind", "useless", "known"})
        | {"miss", "depth", "open", "rehearsal_only", "whole", "of_data", *_PARTS},
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
    patterns: dict[str, list[str]]
    """By a pattern what the search needs of it (`literals.prepared`)."""


class BadCase(ValueError):
    """A data file that does not have the form of one."""


@cache
def cases() -> Cases:
    """The cases of this installation, read once."""
    return load()


def names() -> dict[str, dict[str, str]]:
    """The tables of names that moved, went or came, by their kind."""
    return cases()["names"]


def load(folder: Path = FOLDER, compiled: Path = COMPILED) -> Cases:
    """All cases; compiled anew where a data file is newer than what was compiled."""
    text = None if _is_stale(folder, compiled) else compiled.read_text(encoding="utf-8")
    if text is None:
        text = json.dumps(read(folder), ensure_ascii=False, separators=(",", ":"))
        with suppress(OSError):  # where nobody may write it is read from its sources each time
            _replace(compiled, text)
    cases: Cases = json.loads(text)
    return cases


def read(folder: Path, without: Collection[str] = ()) -> Cases:
    """The cases of a folder's data files, checked; raises BadCase.

    `without`: rooms whose cases are left out.
    """
    import tomllib  # only where a data file is newer than what was compiled

    cases = Cases(case=[], silent=[], shared=[], names={}, patterns={})
    fragments: dict[str, str] = {}
    for path in sorted(folder.glob("*/*.toml")):
        if path.parent.name in without:
            continue
        with path.open("rb") as stream:
            tables = tomllib.load(stream)
        fragments |= tables.pop("fragments", {})
        phase = {"phase": each} if (each := tables.pop("phase", "")) else {}
        of_id: Any = tables.pop("case", {})
        tables["case"] = [{"id": id_, **phase, **row} for id_, row in of_id.items()]
        for kind, names in tables.pop("names", {}).items():
            cases["names"].setdefault(kind, {}).update(_flat(names))
        for kind, rows in tables.items():
            into = {"case": cases["case"], "silent": cases["silent"], "shared": cases["shared"]}
            if kind not in into:
                raise BadCase(f"{path}: no table is called {kind}")
            for row in rows:
                _check(kind, row, f"{path}: {row.get('id', kind)}")
            into[kind] += rows
    for row in (*cases["case"], *cases["shared"]):
        _put_together(row, fragments)
    for row in cases["case"]:
        for pattern in (
            each for part in (row, *row.get("one_of", ())) for each in part.get("says", ())
        ):
            cases["patterns"][pattern] = [*prepared(pattern)]
    return cases


def _flat(names: dict[str, Any]) -> dict[str, str]:
    """A table of names; one of tables by the keys of both."""
    flat: dict[str, str] = {}
    for name, each in names.items():
        if isinstance(each, str):
            flat[name] = each
        else:
            inner: dict[str, str] = each
            flat |= {f"{name} {key}": text for key, text in inner.items()}
    return flat


def _put_together(row: dict[str, Any], fragments: dict[str, str]) -> None:
    """Put the named fragments into the patterns of a case and of the parts within it."""

    def filled(pattern: str) -> str:
        try:
            return _FRAGMENT.sub(lambda hole: fragments[hole[1]], pattern)
        except KeyError as missing:
            raise BadCase(f"no fragment is called {missing}") from None

    for name in ("says", "when"):
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
    needed, others = _FIELDS[kind]
    if missing := needed - row.keys():
        raise BadCase(f"{where}: {kind} lacks {', '.join(sorted(missing))}")
    if unknown := row.keys() - needed - others:
        raise BadCase(f"{where}: {kind} has no {', '.join(sorted(unknown))}")
    if kind == "narrower" and not row.keys() & {"says", "when"}:
        raise BadCase(f"{where}: narrower lacks says or when")
    for name, value in row.items():
        if name in _PARTS:
            for part in value:
                _check(name, part, where)
        elif not _is_of_its_type(kind, name, value):
            raise BadCase(f"{where}: {name} is of another type")


def _is_of_its_type(kind: str, name: str, value: Any) -> bool:
    """Whether a field holds what it is to hold."""
    if name in _FLAGS:
        return isinstance(value, bool)
    if name == "depth":
        return isinstance(value, int)
    if name == "when":
        return isinstance(value, dict) and _are_texts(list(cast(Any, value).values()))
    if name == "hit" and kind == "case":
        return isinstance(value, str) or _are_texts(value)
    if name in _LISTS and kind != "narrower":
        return _are_texts(value)
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    """Whether a field is a list of texts."""
    return isinstance(value, list) and all(isinstance(each, str) for each in cast(Any, value))


def _is_stale(folder: Path, compiled: Path) -> bool:
    """Whether a data file is newer than what was compiled; a wheel has no data files."""
    try:
        made = compiled.stat().st_mtime_ns
    except OSError:
        return True
    places = [entry for room in _rooms(folder) for entry in (room, *os.scandir(room))]
    times = [entry.stat().st_mtime_ns for entry in places]
    # What compiles them changes what is compiled.
    times += [file.stat().st_mtime_ns for file in MAKERS if places]
    return any(time > made for time in times)


def _rooms(folder: Path) -> list[os.DirEntry[str]]:
    """The folders of data files; none in a wheel."""
    with suppress(OSError):
        return [entry for entry in os.scandir(folder) if entry.is_dir()]
    return []


def _replace(path: Path, text: str) -> None:
    """Write a file that no other process ever sees in part."""
    own = path.with_suffix(f".{os.getpid()}")
    own.write_text(text, encoding="utf-8")
    own.replace(path)
