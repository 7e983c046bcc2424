"""What each release of a package needs, and which names came and went with it.

Both tables are made of the packages' wheels by tests/release_facts.py.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

Release = tuple[int, ...]
FOLDER = Path(__file__).parent


class Row(NamedTuple):
    """Releases of a package that need the same."""

    first: Release
    last: Release
    month: str
    pythons: tuple[Release, Release]
    """The first and last Python that they are for; empty where nothing limits them."""
    requires: dict[str, str]


class Span(NamedTuple):
    """The releases that have a name; an end is empty where it is that of the table."""

    package: str
    first: Release
    last: Release


def release(text: str) -> Release:
    """A release to compare by."""
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def spelled(number: Release) -> str:
    """A release as people write it."""
    return ".".join(map(str, number))


@cache
def packages() -> dict[str, tuple[Row, ...]]:
    """By its package: the releases, oldest first."""
    tables: dict[str, list[Row]] = {}
    rows: list[Row] = []
    for line in (FOLDER / "packages.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            rows = tables[line[1:-1].split()[0]] = []
            continue
        first, last, month, pythons, *requires = line.split()
        low, _, high = pythons.partition("-")
        rows.append(
            Row(
                release(first),
                release(first if last == "=" else last),
                month,
                (release(low), release(high)),
                dict(_requirement(each) for each in requires),
            )
        )
    return {name: tuple(rows) for name, rows in tables.items()}


def _requirement(text: str) -> tuple[str, str]:
    """A package, and the releases of it that are wanted."""
    end = next((at for at, sign in enumerate(text) if sign in "<>=~"), len(text))
    return text[:end], text[end:]


@cache
def modules() -> dict[str, str]:
    """By what is imported: its package."""
    lines = (FOLDER / "packages.txt").read_text(encoding="utf-8").splitlines()
    heads = (line[1:-1].split() for line in lines if line.startswith("["))
    return {module: package for package, module in heads}


@cache
def names() -> dict[str, Span]:
    """By its full name: the releases that have it, of all names that came or went."""
    told: dict[str, Span] = {}
    package = ""
    for line in (FOLDER / "names.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            package = line[1:-1]
            continue
        span, *held = line.split()
        first, _, last = span.partition("-")
        here = Span(package, release(first), release(last))
        for each in held:
            module, _, parts = each.partition(":")
            told |= {f"{module}.{name}".lstrip("."): here for name in parts.split(",")}
    return told


def span_of(full: str) -> Span | None:
    """The releases that have a name, or the innermost module around it that came or went."""
    while full:
        if span := names().get(full):
            return span
        full = full.rpartition(".")[0]
    return None


def row_of(package: str, number: Release) -> Row | None:
    """What a release needs: that of its series, where its last number is not told."""
    for row in reversed(packages().get(package, ())):
        size = min(len(number), len(row.first))
        if row.first[:size] <= number[:size] <= row.last[:size]:
            return row
    return None


def admits(wanted: str, number: Release) -> bool:
    """Whether a requirement takes a release."""
    from packaging.specifiers import SpecifierSet  # 20 ms that most answers need not wait

    return SpecifierSet(wanted).contains(spelled(number), prereleases=True)


def fitting(package: str, other: str, number: Release, python: Release = ()) -> Row | None:
    """The newest releases of a package that go with a release of another one."""
    rows = [row for row in packages().get(package, ()) if is_for(row, python)]
    tied = [row for row in rows if row.requires.get(other)]
    if tied:
        return next((row for row in reversed(tied) if admits(row.requires[other], number)), None)
    # It does not say what it needs: the last one of before the other's next release.
    at = row_of(other, number)
    newer = [each.month for each in packages().get(other, ()) if at and each.first > at.last]
    if at is None or not newer:
        return rows[-1] if at and rows else None
    return next((row for row in reversed(rows) if row.month <= newer[0]), None)


def is_for(row: Row, python: Release) -> bool:
    """Whether releases are for a Python, as far as that is known."""
    first, last = row.pythons
    return not python or ((not first or first <= python) and (not last or python <= last))
