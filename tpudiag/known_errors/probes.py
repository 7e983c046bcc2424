"""The patterns of all known errors, ready to be searched for at once.

An Aho-Corasick automaton looks for the longest literal of every pattern in one pass; only where
one occurs is its pattern tried. Time grows with the text, not with the number of errors.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING

from .compiled import cases
from .literals import NO_OUTPUT, anchor, literals, squeezed_pattern

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick


class Probe:
    """One pattern: of which error, of which of its rivals (None: of the error itself)."""

    def __init__(self, error: int, rival: int | None, pattern: str) -> None:
        self.error, self.rival, self.pattern = error, rival, pattern

    @cached_property
    def bare(self) -> str:
        """The pattern for text without white space, in lower case."""
        return squeezed_pattern(self.pattern)

    @cached_property
    def anchor(self) -> bytes:
        """The longest literal of every match."""
        return (cases()["anchors"].get(self.pattern) or anchor(self.bare)).encode()

    @cached_property
    def other(self) -> bytes:
        """A second literal of every match, where that is quicker to miss than the pattern."""
        dear = self.reach >= LONG_REACH or self.lead >= LONG_LEAD
        others = (each for each in map(str.encode, literals(self.bare)) if each != self.anchor)
        return max(others, key=len, default=b"") if dear else b""

    @cached_property
    def reach(self) -> int:
        """Bytes that a match can span at most, an upper bound."""
        return _longest(self.pattern)

    @cached_property
    def lead(self) -> int:
        """Bytes that can stand before the anchor in a match at most, an upper bound."""
        literal = re.sub(r"\\(\W)", r"\1", self.bare.replace(NO_OUTPUT, "tpu"))
        before, _, after = literal.partition(wanted := anchor(self.bare))
        return _longest(literal if wanted in after else before)

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        """For text without white space, in lower case."""
        return re.compile(self.bare.encode())

    @cached_property
    def phrases(self) -> frozenset[str]:
        """Its groups that hold words, of which the blanks between them are a part."""
        return frozenset(name for name, body in _GROUP.findall(self.pattern) if _WORDS.search(body))


def _longest(pattern: str) -> int:
    """Each repeat at its upper bound, all else as long as it is written: never too short."""
    return sum(int(bound) for bound in re.findall(r"(\d+)\}", pattern)) + len(pattern)


@cache
def probes() -> tuple[Probe, ...]:
    """The patterns of all errors, the most telling of each first."""
    return tuple(
        Probe(number, rival, pattern)
        for number, row in enumerate(cases()["case"])
        if row.get("says")  # without any its rivals support nothing
        for rival, part in ((None, row), *enumerate(row.get("one_of", ())))
        for pattern in part.get("says", ())
    )


LONG_REACH = 300
"""Bytes that a pattern may span from which on looking for its second literal first is quicker."""
LONG_LEAD = 30
"""Bytes that may stand before the anchor from which on it is, too: each is tried as a beginning."""
_GROUP = re.compile(r"\(\?P<(\w+)>((?:\\.|[^()\\])*)")
_WORDS = re.compile(r"(?<!\\)\.\{|\\w |[a-z]{2} (?!\?)")
"""Anything, letters and blanks, or words."""


@cache
def _of_anchor() -> dict[bytes, tuple[Probe, ...]]:
    """By its anchor, which many share: the patterns of all errors."""
    of_anchor: dict[bytes, list[Probe]] = {}
    for probe in probes():
        of_anchor.setdefault(probe.anchor, []).append(probe)
    return {anchor: tuple(several) for anchor, several in of_anchor.items()}


@cache
def _automaton() -> BytesAhoCorasick:
    """Finds all anchors at once."""
    from ahocorasick_rs import BytesAhoCorasick

    return BytesAhoCorasick(list(_of_anchor()))


def candidates(text: bytes) -> dict[Probe, list[int]]:
    """Where the anchors of patterns are in a text without white space, in lower case."""
    places = defaultdict[int, list[int]](list)
    # An anchor may lie within another one.
    for number, start, _ in _automaton().find_matches_as_indexes(text, overlapping=True):
        places[number].append(start)
    probes_of = list(_of_anchor().values())
    return {probe: starts for number, starts in places.items() for probe in probes_of[number]}


def hits_of(probe: Probe, text: bytes, places: list[int], begin: int) -> Iterator[re.Match[bytes]]:
    """The matches of a pattern from `begin` on, looked for around its anchor's places only."""
    begin = max(0, begin)
    if not places or places[-1] < begin:
        return
    regex, lead, reach, other = probe.regex, probe.lead, probe.reach, probe.other
    for place in places:
        while place >= begin:
            start = place - lead if place - lead > begin else begin  # the innermost loop of a log
            # `.{0,2500}?` behind the head of every traceback would be walked byte by byte.
            if other and text.find(other, start, place + reach) < 0:
                break
            # A search would try every later start too, where most begin with their anchor:
            # a head that comes again and again would cost its square.
            find = regex.match if start == place else regex.search
            hit = find(text, start, place + reach)
            if hit is None:
                break
            begin = max(hit.end(), begin + 1)
            yield hit
