"""Which names came and went with which release, made of the wheels by tests/release_facts.py."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

Release = tuple[int, ...]
FOLDER = Path(__file__).parent


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
