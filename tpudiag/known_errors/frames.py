"""Lines of a traceback that say where, not what: they hold names and source that raised nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

ToldBy = Literal["words", "frame", "gap", "cut"]
"""What an error is recognised by: its own words, a frame of its traceback alone, a frame and then
any error at all, or the frame in which a text ends."""

_FILE = re.compile(rb'[ \t>|]*File "[^"\n]{1,300}", line \d')
_HEAD = re.compile(
    rb"[ \t>|]*(?:\[?[~/][\w./~-]{0,300}\.py\S{0,80} in \w|File [~/\w][^\n:]{1,300}:\d+, in "
    rb"|<ipython-input|(?:Cell In|Input In) ?\[)"
)
_ARROW = re.compile(rb"[ \t>|]{0,12}-{1,6}> ?\d{1,6}[ \t]")
_RAISED = re.compile(rb"\s*[\w.]{0,80}(?:Error|Exception|Warning)\b")
_GAP = re.compile(r"\{0,\d{3,4}\}\?\w{0,20}(?:Error|Exception):? ?$")


def ends_in_any_error(pattern: str) -> bool:
    """Whether a pattern leads over a long gap to the name of an exception, whatever it says."""
    return _GAP.search(pattern) is not None


def all_frames(rows: Sequence[bytes], first: int, last: int) -> bool:
    """Whether each of some rows belongs to a frame: where it stands, and its source."""
    return all(_is_frame(rows, at) for at in range(first, last + 1) if rows[at].strip())


def _is_frame(rows: Sequence[bytes], at: int) -> bool:
    row = rows[at]
    if _FILE.match(row) or _HEAD.match(row) or _ARROW.match(row):
        return True
    behind = at > 0 and _FILE.match(rows[at - 1]) is not None
    return behind and row[:1] in b" \t>|" and not _RAISED.match(row)
