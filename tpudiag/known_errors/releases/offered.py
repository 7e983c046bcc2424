# ruff: noqa: E501  (patterns stay in one piece)
"""Why pip finds no such release: the Pythons that it has wheels for, and what else is offered."""

from __future__ import annotations

import re

from tpudiag.known_errors.readings.meaning import Reading
from tpudiag.known_errors.readings.narrower import computed

from .given import package_of, python_in
from .tables import Release, Row, is_for, packages, release, row_of, spelled

_WANTED = re.compile(
    r"(?:satisfies the requirement|distribution found for)\s+(?P<package>[A-Za-z][\w.-]{1,50})(?:\[[\w,-]{1,40}\])?"
    r"\s?(?:(?:==|~=|>=|<=|<|>)\s?(?P<release>\d{1,3}(?:\.\d{1,3}){0,3}))?"
)
_WHEEL = re.compile(
    r"(?P<package>[A-Za-z][\w.]{1,50})(?:-(?P<release>\d[\w.+]{0,40}|nightly))?-cp(?P<major>[23])(?P<minor>\d{1,2})-\S{1,80}\.whl is not a supported wheel"
)
_TAGS = re.compile(r"-cp\d{2,3}-\S{1,120}")
"""What the name of a wheel is for, which says nothing of the Python here."""
_LISTED = re.compile(r"\(from versions: (?P<all>[^)\n]{1,6000})")
_APPLE = re.compile(
    r"macos|darwin|Apple ?M\d|MacBook|\bM[1-4](?: ?Pro| ?Max)?\b|osx|arm64", re.IGNORECASE
)


def read(text: str) -> Reading | None:
    """Why there is no such release here; None where nothing tells."""
    if wheel := _WHEEL.search(text):
        return _of_wheel(wheel, python_in(_TAGS.sub("", text)))
    wanted = max(_WANTED.finditer(text), key=lambda one: bool(one["release"]), default=None)
    if wanted is None:
        return None
    package, number = wanted["package"].lower().replace("_", "-"), wanted["release"] or ""
    listed = _LISTED.search(text)
    offered = (
        [each.strip() for each in listed["all"].split(",") if each.strip() != "none"]
        if listed
        else []
    )
    if package.startswith("tensorflow") and listed and not offered and _APPLE.search(text):
        return computed("for Macs", package=package)
    known = packages().get(package_of(package), ())
    row = row_of(package_of(package), release(number)) if number else None
    python = python_in(text)
    if number and offered:
        return _beside(package, number, offered, row, python)
    rows = (row,) if row else () if number else known
    if number and python and row and is_for(row, python):
        return None
    return _for_other_pythons(package, number, rows, python) if number or python else None


def _of_wheel(wheel: re.Match[str], python: Release) -> Reading | None:
    """A wheel that is for one Python alone, as its name says."""
    made = (int(wheel["major"]), int(wheel["minor"]))
    if python == made:
        return None  # it is the platform that differs
    side = f", and Python here is {spelled(python)}" if python else ""
    package = wheel["package"].replace("_", "-")
    return computed(
        "for other Pythons", package=package, release=f" {wheel['release']}" if wheel["release"] else "",
        between=f"{spelled(made)} only", side=side, python=spelled(made), pinned=package,
    )  # fmt: skip


def _for_other_pythons(
    package: str, number: str, rows: tuple[Row, ...], python: Release
) -> Reading | None:
    """Releases that have wheels, but for other Pythons."""
    rows = tuple(row for row in rows if row.pythons[0])
    pythons = [row.pythons for row in rows]
    if not pythons or (python and any(is_for(row, python) for row in rows)):
        return None
    first = min(each[0] for each in pythons)
    last = max((each[1] for each in pythons if each[1]), default=())
    side = (
        ""
        if not python
        else f", and Python here is {spelled(python)}: too {'old' if python < first else 'new'}"
    )
    between = f"{spelled(first)} to {spelled(last)} only" if last else f"{spelled(first)} and later"
    return computed(
        "for other Pythons", package=package, release=f" {number}" if number else "", between=between, side=side,
        python=spelled(last or first), pinned=f"{package}=={number}" if number else package,
    )  # fmt: skip


def _beside(
    package: str, number: str, offered: list[str], row: Row | None, python: Release
) -> Reading | None:
    """A release that is not among those which are offered to this Python."""
    wanted, first, last = release(number), release(offered[0]), release(offered[-1])
    finished = [each for each in offered if re.fullmatch(r"[\d.]+", each)] or offered
    series = ".".join(number.split(".")[:2])
    there = [each for each in offered if each.startswith(f"{series}.")]
    if there and number not in offered:
        nightly = "nightly" in package or ".dev" in there[0]
        why = (
            "nightly builds are deleted after a while"
            if nightly
            else "it was never built or withdrawn"
        )
        return computed(
            "release withdrawn", oldest=there[0], newest=there[-1], package=package, why=why,
            stable=package.replace("tf-nightly", "tensorflow"), series=series,
        )  # fmt: skip
    if first <= wanted <= last:
        return None
    pythons = row.pythons if row else ((), ())
    for_ = (
        f" (it has wheels for Python {spelled(pythons[0])} to {spelled(pythons[1])})"
        if pythons[0] and pythons[1]
        else ""
    )
    older = wanted < first
    old = spelled(pythons[1]) if pythons[1] else "3.9"
    new = spelled(pythons[0]) if pythons[0] else "3.12"
    return computed(
        "not among those offered", package=package, release=number, for_=for_, side="older" if older else "newer",
        here=f" {spelled(python)}" if python else "", end="first" if older else "last",
        nearest=finished[0] if older else finished[-1], python=old if older else new, kind="an older" if older else "a newer",
    )  # fmt: skip
