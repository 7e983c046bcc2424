"""What came and went with which release, read from the wheels by tests/release_*.py."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

Release = tuple[int, ...]
FOLDER = Path(__file__).parent
KERAS_APART = (2, 6)
"""The first TensorFlow whose Keras is a package of its own."""


class Span(NamedTuple):
    """The releases that have a name; an end is empty where it is that of the table."""

    package: str
    first: Release
    last: Release
    called: tuple[str, ...] = ()
    """What is imported of it, and the name that programs mostly give it."""

    @property
    def installed(self) -> "Span":
        """The same of the package that pip installs: TensorFlow, as long as it held its Keras."""
        within = self.package == "keras" and (self.last or self.first) < KERAS_APART
        return self._replace(package="tensorflow") if within else self


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
    """By `function.argument`, `Class.method.argument` or `method.argument`: who takes it when.

    By `.argument` alone: when the classes take it that are made with it.
    """
    told: dict[str, list[Span]] = {}
    for name, span in _rows("arguments.txt"):
        of, _, argument = name.rpartition(".")
        made = {f".{argument}"} if of[:1].isupper() and "." not in of else set[str]()
        for each in {name, ".".join(name.split(".")[-2:]), *made}:
            told.setdefault(each, []).append(span)
    return told


def _rows(file: str) -> Iterator[tuple[str, Span]]:
    """The names of a table, each with its releases."""
    for package, (span, *held) in _lines(file):
        here = _span(package, span)
        for each in held:
            module, _, parts = each.partition(":")
            yield from ((f"{module}.{name}".lstrip("."), here) for name in parts.split(","))


def _lines(file: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words of a table's rows, each with its package and what that is called."""
    package: list[str] = []
    for line in (FOLDER / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            package = line[1:-1].split()
        else:
            yield package, line.split()


def _span(package: list[str], text: str) -> Span:
    first, _, last = text.partition("-")
    return Span(package[0], release(first), release(last), tuple(package[1:]))


@cache
def _classes() -> dict[tuple[str, str], tuple[list[str], dict[str, Span]]]:
    """By package and name: the classes that one is made of, and its members that came or went."""
    told: dict[tuple[str, str], tuple[list[str], dict[str, Span]]] = {}
    for package, (head, *held) in _lines("members.txt"):
        names, _, above = head[:-1].partition("(")
        pairs = list(zip(held[::2], held[1::2], strict=True))
        members = {each: _span(package, span) for span, of in pairs for each in of.split(",")}
        told |= {(package[0], name): (above.split(","), members) for name in names.split(",")}
    return told


def spans_of_member(owner: str, member: str) -> list[Span]:
    """The releases in which a class has a member, by package: those of which it came or went."""
    found: list[Span] = []
    for package in {package for package, name in _classes() if name == owner}:
        line = (owner, *_classes()[package, owner][0])
        held = (_classes().get((package, each), ([], {}))[1].get(member) for each in line)
        found += [span for span in held if span][:1]
    return [span for span in found if span.first or span.last]


def span_of(full: str) -> Span | None:
    """The releases that have a name, or the innermost module around it that came or went."""
    while full:
        if span := names().get(full):
            return span
        full = full.rpartition(".")[0]
    return None
