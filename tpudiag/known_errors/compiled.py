"""The cases of the data files, checked and made into one file that is read quickly.

`cases/*/*.toml` are the source of truth: one subject a file, one room a folder. A wheel holds the
compiled file alone; in a source tree it is made anew whenever a data file is newer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

FOLDER = Path(__file__).parent / "cases"
COMPILED = Path(__file__).parent / "cases.json"

_TEXTS = ("id", "family", "phase", "cause", "fix", "hit")
_LISTS = ("says", "ends_at", "details", "source")
_OPTIONS = ("level", "kind", "useless", "known", "miss")
_PARTS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "narrower": (frozenset({"says", "cause", "fix", "hit"}), frozenset({"near"})),
    "one_of": (
        frozenset({"cause", "look_for"}),
        frozenset({"says", "decide", "fix", "families"}),
    ),
    "release": (frozenset({"of", "since", "before", "fix"}), frozenset()),
    "silent": (frozenset({"id", "reason"}), frozenset()),
    "case": (
        frozenset(_TEXTS),
        frozenset({*_LISTS, *_OPTIONS, "depth", "rehearsal_only", "narrower", "one_of", "release"}),
    ),
}
"""By the kind of a table: the fields that it must have, and those that it may have."""
_LISTED = frozenset({*_LISTS, "families"})

Cases = dict[str, list[dict[str, Any]]]
"""`case` and `silent`, as the files hold them."""


class BadCase(ValueError):
    """A data file that does not have the form of one."""


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

    cases: Cases = {"case": [], "silent": []}
    for path in sorted(folder.glob("*/*.toml")):
        if path.parent.name in without:
            continue
        with path.open("rb") as stream:
            tables = tomllib.load(stream)
        for kind, rows in tables.items():
            if kind not in cases:
                raise BadCase(f"{path}: no table is called {kind}")
            for row in rows:
                _check(kind, row, f"{path}: {row.get('id', kind)}")
            cases[kind] += rows
    return cases


def _check(kind: str, row: dict[str, Any], where: str) -> None:
    """Refuse a table with a field too few, too many or of another type."""
    needed, others = _PARTS[kind]
    if missing := needed - row.keys():
        raise BadCase(f"{where}: {kind} lacks {', '.join(sorted(missing))}")
    if unknown := row.keys() - needed - others:
        raise BadCase(f"{where}: {kind} has no {', '.join(sorted(unknown))}")
    for name, value in row.items():
        if name in ("narrower", "one_of", "release"):
            for part in value:
                _check(name, part, where)
        elif name == "depth":
            _be(isinstance(value, int), where, name)
        elif name == "rehearsal_only":
            _be(isinstance(value, bool), where, name)
        elif name == "hit" and kind == "case":
            _be(isinstance(value, str) or _are_texts(value), where, name)
        elif name in _LISTED and kind != "narrower":
            _be(_are_texts(value), where, name)
        else:
            _be(isinstance(value, str), where, name)


def _are_texts(value: Any) -> bool:
    """Whether a field is a list of texts."""
    return isinstance(value, list) and all(isinstance(each, str) for each in cast(Any, value))


def _be(right: bool, where: str, name: str) -> None:
    """Refuse a field of another type."""
    if not right:
        raise BadCase(f"{where}: {name} is of another type")


def _is_stale(folder: Path, compiled: Path) -> bool:
    """Whether a data file is newer than what was compiled; a wheel has no data files."""
    try:
        made = compiled.stat().st_mtime_ns
    except OSError:
        return True
    places = [entry for room in _rooms(folder) for entry in (room, *os.scandir(room))]
    return any(entry.stat().st_mtime_ns > made for entry in places)


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
