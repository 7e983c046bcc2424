"""Whether data that were stood in for may be to blame for a crash, and not the script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tpudiag.known_errors.model import Kind, Match, Phase

_SHORTEST_STEM = 8
"""Letters of a file's name below which it may be any word."""
_MARKS = ("/fake-data/", "tpudiag-fake:")
"""What names a stand-in: its file, or its content."""
OF_CODE = re.compile(
    r"(NameError|UnboundLocalError|ImportError|ModuleNotFoundError|SyntaxError|IndentationError)\b|"
    r"AttributeError: module '"
)
"""Exceptions that no data and no length of a loop brings about."""


def may_be_of(hit: Match, error: str, stood_in: Sequence[str]) -> bool:
    """Whether a known error of an exception may be due to what was stood in for.

    Always where the error names a stand-in, or is Python's own, whose cause the text does not tell.
    """
    if any(mark in error for mark in (*_MARKS, *_stems(stood_in))):
        return True
    known = hit.error
    # What follows a stand-in is marked by that: what fails while data are read, and what values,
    # sizes, types and weights that real ones have would not bring about.
    if known.of_data is not None:
        return known.of_data
    return known.phase is Phase.READING or (known.kind is Kind.BROAD and known.phase is Phase.ANY)


def may_be_to_blame(error: str, stood_in: Sequence[str]) -> bool:
    """Whether an exception may be due to what was stood in for: where no known error tells else."""
    from tpudiag.known_errors.search import match

    if not stood_in or OF_CODE.match(error):
        return False
    return all(may_be_of(hit, error, stood_in) for hit in match(error) if _tells(hit))


def _tells(hit: Match) -> bool:
    """Whether a known error tells of a cause, and does not follow from another one."""
    known = hit.error
    return not (hit.secondary or known.noise or known.kind in (Kind.CONSEQUENCE, Kind.FORM))


def _stems(stood_in: Sequence[str]) -> Iterator[str]:
    """The names of files that were stood in for, as scripts go on to name what they unpack."""
    for thing in stood_in:
        stem = thing.split(" ")[0].rpartition("/")[2].partition(".")[0]
        if len(stem) >= _SHORTEST_STEM:
            yield stem
