"""The search for known errors in texts and logs of any size.

Texts are searched without their white space and without case. A search takes linear time and
bounded memory: patterns hold no unbounded repeat (a test sees to it), each is tried only where
its longest literal occurs, and a log is read through a window.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from itertools import accumulate, takewhile
from typing import Protocol

from .catalogue import known_error
from .model import MOST_COUNTED, Kind, Match
from .plain_text import (
    ROW_SPACE,
    ToldBy,
    all_frames,
    plain,
    squeezed,
    without_prefixes,
    without_raise_statements,
    without_source_around,
)
from .probes import Probe, candidates, hits_of
from .ranking import ranked
from .readings import reading
from .readings.narrower import called_in, is_about_another, shared
from .releases.reasons import of_match

BLOCK = 1 << 20
"""Bytes that are read at once."""
LONGEST_MATCH = 4096
"""Bytes without white space that a match may span."""
LONGEST_EXCERPT = 300
LINES_BEFORE, LINES_BEHIND = 300, 20
"""Lines around a match that are kept with it."""
WORDS_OF_A_SENTENCE = 4
"""From so many on what stands where a name is looked for says itself what is wrong."""
_EMPHASIS = re.compile(r"(?<![^\s:>|/])\*\*(?! )([^*\n]{1,600})(?<! )\*\*(?!\w)")
"""What a tracker shows in bold."""
_NEXT_SENTENCE = re.compile(r"[.;]\s+(?=[A-Z])")
"""Where a name or path ends that is matched without blanks."""

_PATH_BEHIND_WORDS = re.compile(r"(?<=[a-z] )(?:[/~]|gs:)\S+$")
"""A path that is matched without blanks takes in the words before it."""
_EXCEPTION = re.compile(r"([A-Z][a-z]\w+Error)\b")
"""How a pattern begins that names an exception."""


class Stream(Protocol):
    """What a log is read from: a file, a pipe."""

    def read(self, size: int, /) -> bytes:
        """The next bytes; empty at the end."""
        ...


def match(text: str) -> tuple[Match, ...]:
    """The known errors in a text, best first: causes before consequences, failures first.

    A text is wrapped by terminals and trackers as a log is not: what stands before each of its
    lines may split a sentence, and is left out.
    """
    raw = _EMPHASIS.sub(r"\1", text).encode(errors="replace")
    matches = scan(BytesIO(without_prefixes(without_raise_statements(raw))))
    return tuple(replace(each, reading=of_match(each, text)) for each in matches)


def scan(stream: Stream, on_read: Callable[[int], None] = lambda _: None) -> tuple[Match, ...]:
    """The known errors in a log of any size, its lines as long as they may be, best first.

    `on_read` is told of the bytes of each block that was read.
    """
    search = _Search()
    while block := stream.read(BLOCK):
        search.feed(block)
        on_read(len(block))
    return search.close()


class _Search:
    """A search in progress: the end of what was read, and what was found so far.

    Positions count the bytes without white space from the start of the text.
    """

    def __init__(self) -> None:
        self._carried = b""
        self._base = 0
        self._line = 1
        self._taken: dict[Probe, int] = {}
        self._found: dict[Probe, Match] = {}

    def feed(self, block: bytes) -> None:
        """Take in the next bytes; what may go on in later ones is kept for them."""
        # Before it meets what was carried: positions count what is left.
        text = self._carried + without_source_around(block)
        cut = _cut(text)
        if cut:
            # What begins in the kept end is left for the next block: its rest may still come.
            self._base = self._sweep(text, len(squeezed(plain(text[cut:]))))
            self._line += text.count(b"\n", 0, cut)
        self._carried = text[cut:]

    def close(self) -> tuple[Match, ...]:
        """Search what is left, and answer."""
        self._sweep(self._carried, 0)
        return ranked(self._found)

    def _sweep(self, raw: bytes, later: int) -> int:
        """Note the matches that start before the last `later` bytes; the position of these."""
        text = plain(raw)
        bare = squeezed(text)
        lowered = bare.lower().replace(b"`", b"'")  # trackers take `x` for code, people write 'x'
        window = _Window(text, bare, self._line)
        end = len(bare) - later
        for probe, places in candidates(lowered).items():
            known = self._found.get(probe)
            # What supports a rival cause is shown once, and not counted.
            if known and (probe.rival is not None or known.count >= MOST_COUNTED):
                continue
            matches = hits_of(probe, lowered, places, self._taken.get(probe, 0) - self._base)
            if hits := list(takewhile(lambda one: one.start() < end, matches)):
                self._note(probe, hits, window)
        return self._base + end

    def _note(self, probe: Probe, hits: list[re.Match[bytes]], window: _Window) -> None:
        """Count matches; the first of its pattern is kept with excerpt and values."""
        self._taken[probe] = self._base + hits[-1].end()
        known = self._found.get(probe) or self._first(probe, hits[0], window)
        if known is not None:
            last = window.line_at(hits[-1].start())
            self._found[probe] = replace(known, count=known.count + len(hits), last_line=last)

    def _first(self, probe: Probe, hit: re.Match[bytes], window: _Window) -> Match | None:
        """What is kept of a pattern's first match, not yet counted; None where it is of another."""
        line = window.line_at(hit.start())
        error = known_error(probe.error)
        if exception := _EXCEPTION.match(probe.pattern):
            rows = window.rows(hit.start(), hit.end())
            before = re.findall(rf"(\w?){exception[1]}", rows, re.IGNORECASE)
            if before and "" not in before:
                return None  # the end of a longer name: ParserSyntaxError
        given = (name for name, value in hit.groupdict().items() if value)
        said = {name: window.words(*hit.span(name)) for name in given}
        values = {
            name: words
            if name in probe.phrases
            else "".join(_NEXT_SENTENCE.split(words, 1)[0].split())
            for name, words in said.items()
        }
        if path := _PATH_BEHIND_WORDS.search(said.get("file", "")):
            values["file"] = path[0]
        # A sentence in the place of a name: without its blanks it would look like one.
        for name in said.keys() & {"name", "argument"}:
            if said[name].count(" ") >= WORDS_OF_A_SENTENCE and error.kind is Kind.BROAD:
                return None
            if " " in said[name]:
                del values[name]
        called = called_in(window.rows(hit.start(), hit.end()))
        read = probe.rival is None and not error.noise
        told = reading(window.bare, hit, error, values, called, shared()) if read else None
        texts = (error.example, *error.more_examples)
        if told is None and is_about_another(texts, error.cause + error.fix, called):
            return None
        return Match(
            error=error,
            excerpt=window.excerpt(hit.start(), hit.end()),
            line=line,
            last_line=line,
            count=0,
            reading=told,
            values=values,
            told_by=window.told_by(hit),
            near=window.near(hit.start()),
        )


class _Window:
    """A piece of the text, with and without white space; its lines are told apart when asked."""

    def __init__(self, text: bytes, bare: bytes, line: int) -> None:
        self._text, self.bare, self._first = text, bare, line
        self._starts: list[int] = []

    @cached_property
    def _lines(self) -> list[bytes]:
        """The lines with their white space."""
        return self._text.split(b"\n")

    def told_by(self, hit: re.Match[bytes]) -> ToldBy:
        """What a match of a pattern is told by."""
        first, last = self._row_at(hit.start()), self._row_at(hit.end() - 1)
        return "frame" if all_frames(self._lines, first, last) else "words"

    def line_at(self, position: int) -> int:
        """The number of the line that holds a position of the bare text."""
        return self._first + self._row_at(position)

    def rows(self, start: int, end: int) -> str:
        """The lines from one position of the bare text to another, whole."""
        rows = self._lines[self._row_at(start) : self._row_at(end - 1) + 1]
        return b" ".join(rows)[-LONGEST_MATCH:].decode(errors="replace")

    def near(self, position: int) -> tuple[str, int]:
        """The lines around a position, and which of them it is in."""
        at = self._row_at(position)
        first = max(0, at - LINES_BEFORE)
        rows = [row[:LONGEST_MATCH] for row in self._lines[first : at + LINES_BEHIND]]
        return b"\n".join(rows).decode(errors="replace"), at - first + 1

    def words(self, start: int, end: int) -> str:
        """What stands from one position of the bare text to another, with its blanks."""
        first = self._row_at(start)
        rows = b" ".join(self._lines[first : self._row_at(end - 1) + 1]).split()
        position, words = self._starts[first], list[bytes]()
        for word in rows:
            begin, position = max(0, start - position), position + len(word)
            words.append(word[begin : max(0, len(word) - max(0, position - end))])
        return b" ".join(filter(None, words)).decode(errors="replace")

    def excerpt(self, start: int, end: int) -> str:
        """The readable text from a match's start to the end of the line in which it ends."""
        words = self.words(start, self._starts[self._row_at(end - 1) + 1])
        return words if len(words) <= LONGEST_EXCERPT else f"{words[:LONGEST_EXCERPT]}\u2026"

    def _row_at(self, position: int) -> int:
        """The index of the line that holds a position of the bare text."""
        if not self._starts:
            # Only when the first match asks for a line: most logs hold none, and need no table of
            # their lines.
            rows = self._text.translate(None, ROW_SPACE).split(b"\n")
            self._starts = list(accumulate(map(len, rows), initial=0))
        return max(0, bisect_right(self._starts, position, hi=len(self._starts) - 1) - 1)


def _cut(text: bytes) -> int:
    """Where the end begins that is searched again with what follows: best at a line's end."""
    kept = LONGEST_MATCH
    while kept < len(text):
        end = len(text) - kept
        cut = text.rfind(b"\n", max(0, end - BLOCK // 2), end) + 1 or end
        # No match is worth more than a block of blanks in it.
        if kept >= BLOCK or len(squeezed(plain(text[cut:]))) >= LONGEST_MATCH:
            return cut
        kept *= 2  # by doubling: a text of blanks would be squeezed again and again
    return 0
