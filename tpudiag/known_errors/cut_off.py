"""Tracebacks whose last sentence is missing, or known to nobody: told by where they end.

People paste what fits on a screen, and trackers shorten it: the sentence that says what failed is
cut away, and the frames above it are left. They tell what was being done, and what mostly fails
there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from tpudiag.records import dataclass

from .catalogue import known_errors
from .frames import ToldBy
from .literals import squeezed_pattern
from .model import KnownError, Match, Rival, RivalFound
from .plain_text import plain, squeezed, without_prefixes

INNERMOST = 8
"""Frames from the last one outwards that still say what was being done."""
LONGEST_TEXT = 200_000
"""Characters at the end of a text in which its frames are looked for."""
LONGEST_SOURCE = 600
LINES_BEHIND = 30
"""Lines behind the last frame: more, and the text goes on after the error."""
_FRAME = re.compile(
    r"(?P<path>[\w./~\\<>-]{1,200}\.py)"
    r"(?:\", line \d{1,7}(?:, in)?|\]\([^)\n]{1,80}\) in|:\d{1,7},? in| in"
    r"|:\d{1,7}(?=[ \t]+\w{1,80}(?:[ \t]*\*{1,2})?[ \t]*$))"
    r"[ \t]+(?P<name>[\w<>.]{1,80})",
    re.MULTILINE,
)
_SAID = re.compile(
    r"^[ \t>]*(?:E +)?(?:\w+\.)*[A-Z]\w{0,60}(?:Error|Exception|Interrupt)(?::[ \t]|[ \t]*$)",
    re.MULTILINE,
)
"""The line that says what failed."""


@dataclass(frozen=True)
class _Frame:
    """A line of a traceback: `file.py function`, the source behind it, its row from 0."""

    place: str
    source: str
    row: int


def cut_off(text: str) -> Match | None:
    """What mostly fails where the traceback of a text ends; None where that is no known place."""
    text = plain(without_prefixes(text.encode(errors="replace"))).decode(errors="replace")
    text = text.replace("\\", "/")
    before = text.count("\n", 0, max(0, len(text) - LONGEST_TEXT))
    text = text[-LONGEST_TEXT:]
    frames = list(_frames(text))
    if not frames or text.count("\n") - frames[-1].row > LINES_BEHIND:
        return None
    told_by: ToldBy = "gap" if _SAID.search(frames[-1].source) else "cut"
    # What has words of its own is the more telling of two that are told by one frame.
    placed = sorted(
        (each for each in known_errors() if each.places), key=lambda one: not one.patterns
    )
    for frame in reversed(frames):
        where = f"{frame.place}\n{frame.source}"
        for error in placed:
            if any(re.search(place, where) for place in error.places):
                return _match(error, frame, text, told_by, before)
    return None


def _frames(text: str) -> Iterator[_Frame]:
    """The innermost frames of a text, outermost first; what stands behind one belongs to it."""
    found = list(_FRAME.finditer(text))[-INNERMOST:]
    for at, frame in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        source = text[frame.end() : min(end, frame.end() + LONGEST_SOURCE)]
        yield _Frame(f"{frame['path']} {frame['name']}", source, text.count("\n", 0, frame.start()))


def _match(error: KnownError, frame: _Frame, text: str, told_by: ToldBy, before: int) -> Match:
    """An error that is told by a frame, and which of its causes the text supports.

    `before`: lines that stand before the text.
    """
    rows = [squeezed(row.encode()).lower().decode() for row in text.split("\n")]
    rivals = [_found(rival, rows, before) for rival in error.rivals]
    return Match(
        error=error,
        excerpt=" ".join(frame.place.split()),
        line=before + frame.row + 1,
        last_line=before + frame.row + 1,
        rivals=tuple(sorted(rivals, key=lambda each: each.support is None)),
        told_by=told_by,
    )


def _found(rival: Rival, rows: list[str], before: int) -> RivalFound:
    """A rival cause, and the words that speak for it."""
    bare, ends = "".join(rows).replace("`", "'"), list(accumulate(map(len, rows)))
    for cue in rival.cues:
        if hit := re.search(squeezed_pattern(cue), bare):
            row = bisect_right(ends, hit.start())
            return RivalFound(rival=rival, support=hit[0], line=before + row + 1)
    return RivalFound(rival=rival)
