"""Known errors in which a phrase stands, for those who remember only a few words of one."""

import re

from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.model import KnownError

MOST_WORDS = 6
"""A longer text is an error's own, and not a phrase."""
MOST = 5


def with_phrase(text: str) -> tuple[KnownError, ...]:
    """The errors whose example, or else whose cause, holds the phrase; the shortest text first."""
    phrase = _plain(text)
    if not 0 < len(phrase.split()) <= MOST_WORDS:
        return ()
    whole = re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)")
    errors = [error for error in known_errors() if not error.noise]
    shown = [error for error in errors if whole.search(_plain(error.example))]
    told = [error for error in errors if error not in shown and whole.search(_plain(error.cause))]
    # The shorter a text, the more of it the phrase is.
    return tuple([*sorted(shown, key=lambda error: len(error.example)), *told][:MOST])


def _plain(text: str) -> str:
    """In one line, whatever the case."""
    return " ".join(text.casefold().split())
