"""Which names came and went with which release, made of the wheels by tests/release_facts.py."""

from collections.abc import Iterator
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
    called: tuple[str, ...] = ()
    """What is imported of it, and the name that programs mostly give it."""


def release(text: str) -> Release:
    """A release to compare by."""
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def spelled(number: Release) -> str:
    """A release as people write it."""
    return ".".join(map(str, number))


@cache
def names() -> dict[str, Span]:
    """By its full name: the releases that have it, of all names that came or went."""
    return dict(_rows("names.txt"))


@cache
def arguments() -> dict[str, list[Span]]:
    """By `function.argument`, `Class.method.argument` or `method.argument`: who takes it when."""
    told: dict[str, list[Span]] = {}
    for name, span in _rows("arguments.txt"):
        for each in {name, ".".join(name.split(".")[-2:])}:
            told.setdefault(each, []).append(span)
    return told


def _rows(file: str) -> Iterator[tuple[str, Span]]:
    """The names of a table, each with its releases."""
    package, called = "", list[str]()
    for line in (FOLDER / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            package, *called = line[1:-1].split()
            continue
        span, *held = line.split()
        first, _, last = span.partition("-")
        here = Span(package, release(first), release(last), tuple(called))
        for each in held:
            module, _, parts = each.partition(":")
            yield from ((f"{module}.{name}".lstrip("."), here) for name in parts.split(","))


class Class(NamedTuple):
    """What of a class came or went, and what else it is made of, the nearest first."""

    above: tuple[str, ...]
    members: dict[str, Span]


@cache
def _classes() -> dict[str, dict[str, Class]]:
    """By package, then by name: the classes of which members came or went."""
    told: dict[str, dict[str, Class]] = {}
    package = ""
    for line in (FOLDER / "members.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            package = line[1:-1]
            continue
        head, *held = line.split()
        named, _, above = head[:-1].partition("(")
        members: dict[str, Span] = {}
        for span, names_held in zip(held[::2], held[1::2], strict=True):
            first, _, last = span.partition("-")
            here = Span(package, release(first), release(last))
            members |= dict.fromkeys(names_held.split(","), here)
        alike = Class(tuple(above.split(",")), members)
        told.setdefault(package, {}).update(dict.fromkeys(named.split(","), alike))
    return told


def spans_of_member(owner: str, member: str) -> tuple[Span, ...]:
    """The releases in which a class has a member, by package: those of which it came or went."""
    nothing = Class((), {})
    found: list[Span] = []
    for classes in _classes().values():
        line = (owner, *classes.get(owner, nothing).above)
        spans = (classes.get(each, nothing).members.get(member) for each in line)
        found += [span for span in spans if span][:1]
    return tuple(span for span in found if span.first or span.last)


def span_of(full: str) -> Span | None:
    """The releases that have a name, or the innermost module around it that came or went."""
    while full:
        if span := names().get(full):
            return span
        full = full.rpartition(".")[0]
    return None
