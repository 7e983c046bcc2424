"""Why pip has no such release: the Pythons and machines that a package's wheels are for."""

from __future__ import annotations

import re

from .meaning import Reading
from .narrower import computed

_PYTHONS: dict[str, tuple[tuple[tuple[int, int], int, int], ...]] = {
    "tensorflow": (
        ((1, 12), 4, 6),
        ((1, 15), 5, 7),
        ((2, 1), 5, 7),
        ((2, 3), 5, 8),
        ((2, 4), 6, 8),
        ((2, 6), 6, 9),
        ((2, 7), 7, 9),
        ((2, 11), 7, 10),
        ((2, 13), 8, 11),
        ((2, 15), 9, 11),
        ((2, 19), 9, 12),
        ((2, 20), 9, 13),
    ),
}
"""Up to a release: the first and the last Python 3 that it has wheels for."""
_WHEELS = {
    "tensorflow-cpu": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tf-nightly": "tensorflow",
}
_WANTED = re.compile(
    r"(?:satisfiestherequirement|distributionfoundfor)(?P<package>[A-Za-z][\w.-]{1,40}?)(?:\[[\w,-]{1,40}\])?"
    r"(?:(?P<how>==|~=|>=|<=|<|>)(?P<release>\d{1,3}(?:\.\d{1,3}){0,3}))"
)
_NAMED = re.compile(r"satisfiestherequirement(?P<package>[A-Za-z][\w.-]{1,40}?)(?=[=<>~!\[(])")
_APPLE = re.compile(
    r"macos|darwin|AppleM\d|MacBook|\bM[1-4](?:Pro|Max)?\b|osx|arm64", re.IGNORECASE
)
_NONE = re.compile(r"\(fromversions:none\)")
_LISTED = re.compile(r"\(fromversions:(?P<all>[\w.,+-]{1,600})")
_FIRST = re.compile(r"\(fromversions:(?P<first>\d{1,3}(?:\.\d{1,3}){1,3})\w*")


def read(values: dict[str, str], text: str) -> Reading | None:
    """Why there is no such release here."""
    wanted = _WANTED.search(text) or _NAMED.search(text)
    package = (wanted["package"] if wanted else values.get("package", "")).lower().replace("_", "-")
    release = wanted.groupdict().get("release", "") if wanted else ""
    if package.startswith("tensorflow") and _NONE.search(text) and _APPLE.search(text):
        return computed("for Macs", package=package)
    if gone := _gone(package, release, text):
        return gone
    if pythons := _pythons(_WHEELS.get(package, package), release):
        first, last = pythons
        series = ".".join(release.split(".")[:2])
        return computed(
            "for other Pythons",
            package=package,
            release=release,
            first=first,
            last=last,
            series=series,
        )
    oldest = _FIRST.search(text)
    if release and oldest and _number(release) < _number(oldest["first"]):
        return computed("older than all", package=package, release=release, oldest=oldest["first"])
    return None


def _gone(package: str, release: str, text: str) -> Reading | None:
    """A release that is no more, where others of the same series are there for this Python."""
    listed = _LISTED.search(text)
    series = ".".join(release.split(".")[:2])
    if listed is None or not series:
        return None
    there = [each for each in listed["all"].split(",") if each.startswith(f"{series}.")]
    if not there:
        return None
    nightly = "nightly" in package or ".dev" in there[0]
    why = (
        "nightly builds are deleted after a while" if nightly else "it was never built or withdrawn"
    )
    stable = package.replace("tf-nightly", "tensorflow")
    return computed(
        "release withdrawn",
        oldest=there[0],
        newest=there[-1],
        package=package,
        why=why,
        stable=stable,
        series=series,
    )


def _pythons(package: str, release: str) -> tuple[int, int] | None:
    """The first and last minor Python 3 of a release, where they are known."""
    if not release or "." not in release:
        return None
    number = _number(release)[:2]
    for upto, first, last in _PYTHONS.get(package, ()):
        if number <= upto:
            return first, last
    return None


def _number(release: str) -> tuple[int, ...]:
    """A release to compare by."""
    return tuple(int(part) for part in release.split("."))
