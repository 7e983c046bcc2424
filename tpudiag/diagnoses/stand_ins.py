"""Whether synthetic data, rather than the script, may have caused a crash."""

import re
from collections.abc import Iterator, Sequence

from tpudiag.known_errors.model import Kind, Match, Phase

_SHORTEST_STEM = 8
"""The least length of a file's name that is no common word."""
_MARKS = ("/fake-data/", "tpudiag-fake:")
"""Identify synthetic data: its file, or its content."""
OF_CODE = re.compile(
    r"(NameError|UnboundLocalError|ImportError|ModuleNotFoundError|SyntaxError|IndentationError)\b|"
    r"AttributeError: module '|TypeError: [^\n]*unexpected keyword argument '|[\w.]+: [^\n]*"
    r"(?:no longer (?:supported|available|allowed)|(?:was|were|been) removed (?:in|from|since))"
)
"""Exceptions that neither data nor a loop's length can cause: names, or what a release removed."""


def may_be_of(hit: Match, error: str, stood_in: Sequence[str]) -> bool:
    """Whether synthetic data may have caused an exception that matches a known error.

    Always where the error names synthetic data, or is Python's own, whose text shows no cause.
    """
    if any(mark in error for mark in (*_MARKS, *_stems(stood_in))):
        return True
    known = hit.error
    # Errors that synthetic data can cause are marked: failures while data is read, and with values,
    # sizes, types and weights that real data would not have.
    if known.of_data is not None:
        return known.of_data
    return known.phase is Phase.READING or (known.kind is Kind.BROAD and known.phase is Phase.ANY)


def may_be_to_blame(error: str, stood_in: Sequence[str]) -> bool:
    """Whether synthetic data may have caused an exception, unless a known error explains it."""
    from tpudiag.known_errors.search import match

    if not stood_in or OF_CODE.match(error):
        return False
    return all(may_be_of(hit, error, stood_in) for hit in match(error) if _is_cause(hit))


def _is_cause(hit: Match) -> bool:
    """Whether a known error names a cause, and not the consequence of one."""
    known = hit.error
    return not (hit.secondary or known.noise or known.kind is Kind.CONSEQUENCE)


def _stems(stood_in: Sequence[str]) -> Iterator[str]:
    """The names of replaced files, as scripts use them for what they unpack."""
    for thing in stood_in:
        stem = thing.split(" ")[0].rpartition("/")[2].partition(".")[0]
        if len(stem) >= _SHORTEST_STEM:
            yield stem
