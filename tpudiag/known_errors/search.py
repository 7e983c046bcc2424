"""The catalogue of known errors, and the search for them in texts and logs of any size.

Texts are searched without their white space, so neither wrapping nor indentation hides an error.
A search takes linear time and bounded memory: patterns hold no unbounded repeat (a test sees to
it), each is tried only where its longest literal occurs, and a log is read through a window.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple, TextIO

from tpudiag.known_errors.model import KnownError, Level, Silent

WINDOW = 1 << 16
LONGEST_MATCH = 4096
LONGEST_PIECE = 1 << 15
LONGEST_EXCERPT = 300
READ_STEP = 1 << 20

_LEVELS: tuple[Level, ...] = ("error", "warning", "info")
_ANSI = re.compile(
    r"\x1b(?:\[[0-9;:?]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,1024}(?:\x07|\x1b\\)|[@-Z\\-_])"
)
_FRAMES = re.compile("[\u2500-\u257f]")


@dataclass(frozen=True)
class Match:
    """A known error in a text: where, how often, and the values that the text gave.

    `secondary` is true where another error in the same text is the cause of this one.
    """

    error: KnownError
    excerpt: str
    line: int
    last_line: int
    count: int = 1
    values: dict[str, str] = field(default_factory=dict[str, str])
    secondary: bool = False

    @property
    def message(self) -> str:
        """The cause, and the details for which the text gave all values."""
        details = (_filled(detail, self.values) for detail in self.error.details)
        return " ".join([self.error.cause, *(detail for detail in details if detail)])


def known_errors() -> tuple[KnownError, ...]:
    """The whole catalogue, in the order of its file."""
    from tpudiag.known_errors.entries import ERRORS

    return ERRORS


def silent() -> tuple[Silent, ...]:
    """The ids that stand for something known which leaves no text."""
    from tpudiag.known_errors.entries import SILENT

    return SILENT


def match(text: str) -> tuple[Match, ...]:
    """The known errors in a text, best first: causes before consequences, failures first."""
    return scan(_lines(text))


def scan(lines: Iterable[str]) -> tuple[Match, ...]:
    """The known errors in a stream of lines of any length, best first, in bounded memory."""
    search = _Search()
    for number, line in enumerate(lines, 1):
        search.feed(number, line)
    return search.close()


def scan_stream(
    stream: TextIO, on_read: Callable[[int], None] = lambda _: None
) -> tuple[Match, ...]:
    """The known errors in a log of any size, its lines as long as they may be, best first.

    `on_read` is told now and then of the characters that were read.
    """
    search, number, moved = _Search(), 1, 0
    while piece := stream.readline(LONGEST_PIECE):
        search.feed(number, piece)
        number += piece.endswith("\n")
        moved += len(piece)
        if moved >= READ_STEP:
            on_read(moved)
            moved = 0
    return search.close()


def _filled(detail: str, values: dict[str, str]) -> str:
    """A detail with its values, or nothing where one is missing."""
    try:
        return detail.format_map(values)
    except KeyError:
        return ""


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, one after the other."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


class _Probe(NamedTuple):
    """One pattern of an error, ready to be searched in text without white space."""

    error: int
    anchor: str
    regex: re.Pattern[str]


class _Row(NamedTuple):
    """A piece of a line: where it starts in the squeezed text, with and without white space."""

    start: int
    line: int
    shown: str
    squeezed: str


@cache
def _probes() -> tuple[_Probe, ...]:
    squeezed = (
        (index, pattern.replace(" ", ""))
        for index, error in enumerate(known_errors())
        for pattern in error.patterns
    )
    return tuple(_Probe(index, anchor(text), re.compile(text)) for index, text in squeezed)


def anchor(pattern: str) -> str:
    """The longest literal that every match of a pattern holds; empty where there is none."""
    outside = re.sub(r"(?<!\\)\[(?:[^\]\\]|\\.)*\]|\\\w", "\0", pattern)
    outside = re.sub(r"\\(\W)", lambda found: chr(0xE000 + ord(found[1])), outside)
    while (inner := re.sub(r"\([^()]*\)", "\0", outside)) != outside:
        outside = inner
    outside = re.sub(r".(?:[?*+]|\{[^}]*\})\??|[.^$]", "\0", outside)
    literal = re.sub("[\ue000-\ue0ff]", lambda found: chr(ord(found[0]) - 0xE000), outside)
    return max(literal.split("\0"), key=len)


class _Search:
    """A search in progress: a window over the squeezed text, and what was found so far."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._end = 0
        self._swept = 0
        self._found: dict[_Probe, Match] = {}
        self._taken: dict[_Probe, int] = {}

    def feed(self, number: int, line: str) -> None:
        """Take in the next line."""
        for start in range(0, len(line), LONGEST_PIECE):
            words = _plain(line[start : start + LONGEST_PIECE]).split()
            if not words:
                continue
            row = _Row(self._end, number, " ".join(words), "".join(words))
            self._rows.append(row)
            self._end += len(row.squeezed)
            if self._end - self._swept >= WINDOW:
                self._sweep(self._end - LONGEST_MATCH)

    def close(self) -> tuple[Match, ...]:
        """Search what is left, and answer."""
        if self._rows:
            self._sweep(self._end)
        return _ranked(self._found)

    def _sweep(self, until: int) -> None:
        """Note the matches that start before `until`, and forget the rows that end before it."""
        window = "".join(row.squeezed for row in self._rows)
        base = self._rows[0].start
        for probe in _probes():
            if probe.anchor not in window:
                continue
            begin = max(self._swept, self._taken.get(probe, 0)) - base
            for found in probe.regex.finditer(window, begin):
                if base + found.start() >= until:
                    break
                self._note(probe, found, base)
        self._swept = until
        del self._rows[: self._row_at(until)]

    def _note(self, probe: _Probe, found: re.Match[str], base: int) -> None:
        """Count a match; the first of its pattern is kept with excerpt and values."""
        start, end = base + found.start(), base + found.end()
        self._taken[probe] = end
        row = self._rows[self._row_at(start)]
        known = self._found.get(probe)
        if known is not None:
            self._found[probe] = replace(known, count=known.count + 1, last_line=row.line)
            return
        values = {name: value for name, value in found.groupdict().items() if value}
        error = known_errors()[probe.error]
        excerpt = self._excerpt(start, end)
        self._found[probe] = Match(error, excerpt, row.line, row.line, values=values)

    def _row_at(self, position: int) -> int:
        """The index of the row that holds a position of the squeezed text."""
        return max(0, bisect_right(self._rows, position, key=lambda row: row.start) - 1)

    def _excerpt(self, start: int, end: int) -> str:
        """The readable text from a match's start to the end of the line in which it ends."""
        rows = self._rows[self._row_at(start) : self._row_at(end - 1) + 1]
        position, said = rows[0].start, ""
        for word in (word for row in rows for word in row.shown.split()):
            position += len(word)
            if position > start:
                said += " " + word[-(position - start) :]
            if len(said) > LONGEST_EXCERPT:
                return said[1 : LONGEST_EXCERPT + 1] + "\u2026"
        return said[1:]


def _plain(line: str) -> str:
    """A line without terminal colours, cursor movements and frames."""
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    return line if line.isascii() else _FRAMES.sub(" ", line)


def _ranked(found: dict[_Probe, Match]) -> tuple[Match, ...]:
    """One match for each error, told by the first of its patterns that matched; best first."""
    by_error: dict[str, list[Match]] = {}
    for probe in _probes():
        if probe in found:
            by_error.setdefault(found[probe].error.id, []).append(found[probe])
    merged = [
        replace(
            group[0],
            line=min(each.line for each in group),
            last_line=max(each.last_line for each in group),
            count=max(each.count for each in group),
        )
        for group in by_error.values()
    ]
    ranked = [replace(each, secondary=_yields(each.error, merged)) for each in merged]
    return tuple(sorted(ranked, key=_rank))


def _yields(error: KnownError, among: list[Match]) -> bool:
    """Whether another of the errors found is the cause of this one."""
    if "*" in error.yields_to:
        others = (each.error for each in among if each.error.id != error.id)
        return any(each.level == "error" and "*" not in each.yields_to for each in others)
    return any(each.error.id in error.yields_to for each in among)


def _rank(found: Match) -> tuple[bool, int, int, str]:
    """Causes before consequences, failures before warnings, then as in the text."""
    return found.secondary, _LEVELS.index(found.error.level), found.line, found.error.id
