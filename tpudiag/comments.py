"""Comments in the user's code that silence a finding: `# tpudiag: ignore[TPU204] reason`."""

import re
from functools import lru_cache

from tpudiag.bounded_files import python_lines
from tpudiag.model import Location

# A report reads the same script for each finding, and a fix for each rehearsal.
_lines = lru_cache(maxsize=64)(python_lines)
_COMMENT = re.compile(r"#\s*tpudiag:\s*ignore\[([\w,\s]+)\]\s*(.*)")


def reason_to_ignore(place: Location | None, id_: str) -> str | None:
    """The reason in a comment on the line of a finding; None without one, or without a reason.

    The comment names ids or families: `ignore[TPU204, TPU4]`.
    """
    if place is None or place.line is None:
        return None
    lines = _lines(place.file)
    match = _COMMENT.search(lines[place.line - 1]) if 0 < place.line <= len(lines) else None
    # Without a reason it silences nothing: in a year nobody would know why.
    if match is None or not match[2].strip():
        return None
    named = [name.strip() for name in match[1].split(",")]
    return match[2].strip() if any(name and id_.startswith(name) for name in named) else None
