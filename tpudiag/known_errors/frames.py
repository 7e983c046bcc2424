"""Lines of a traceback that say where, not what: they hold names and source that raised nothing."""

import re
from collections.abc import Sequence
from typing import Literal

ToldBy = Literal["words", "frame"]
"""What an error is recognised by: its own words, or a frame of its traceback alone."""

_FILE = re.compile(rb'[ \t>|]*File "[^"\n]{1,300}", line \d')
_HEAD = re.compile(
    rb"[ \t>|]*(?:\[?[~/][\w./~-]{0,300}\.py\S{0,80} in \w|File [~/\w][^\n:]{1,300}:\d+, in "
    rb"|<ipython-input|(?:Cell In|Input In) ?\[)"
)
_ARROW = re.compile(rb"[ \t>|]{0,12}-{1,6}> ?\d{1,6}[ \t]")
_RAISED = re.compile(rb"\s*[\w.]{0,80}(?:Error|Exception|Warning)\b")


def all_frames(rows: Sequence[bytes], first: int, last: int) -> bool:
    """Whether each of some rows belongs to a frame: where it stands, and its source."""
    for at in (each for each in range(first, last + 1) if rows[each].strip()):
        row, behind = rows[at], at > 0 and _FILE.match(rows[at - 1])
        source = behind and row[:1] in b" \t>|" and not _RAISED.match(row)
        if not (source or _FILE.match(row) or _HEAD.match(row) or _ARROW.match(row)):
            return False
    return True
