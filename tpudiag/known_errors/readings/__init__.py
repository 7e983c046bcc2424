"""What an error itself says of its cause: what its names, shapes and arguments mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .meaning import Reading

NAMES = (
    *("hasnoattribute", "cannotimport", "Nomodule", "keywordargument"),
    *("notrecognized", "notunderstood"),
)
SHAPES = ("hape", "size", "samples", "butgot", "ndim", "axis", "In[0]", "Input0")
SERVICES = (
    "ssh",
    "port22",
    "ermission",
    "denied",
    "scopes",
    "API",
    "itioned",
    "visible",
    "hadsize",
)
"""Words of which one is in each error that a module here can read."""
BEFORE, BEHIND = 200, 700
"""Bytes around a match in which what it names may stand."""


def reading(bare: bytes, hit: re.Match[bytes], *, vague: bool) -> Reading | None:
    """What a match says itself, in a text without white space; None where that tells nothing.

    Of what is vague (a form, no cause) the operation is read as well.
    """
    first = max(0, hit.start() - BEFORE)
    around = bare[first : hit.end() + BEHIND].decode(errors="replace")
    begin, end = hit.start() - first, hit.end() - first
    for read in _readers(around):
        if meant := read(around, begin, end):
            return meant
    if not vague:
        return None
    from . import operations

    return operations.read(around, begin)


def _readers(text: str) -> Iterator[Callable[[str, int, int], Reading | None]]:
    """Who may read a text: each is loaded only where one of its words is in it, for speed."""
    if any(word in text for word in NAMES):
        from . import names

        yield names.read
    if any(word in text for word in SHAPES):
        from . import shapes

        yield shapes.read
    if "required" in text or "positional" in text:
        from . import calls

        yield calls.read
    if any(word in text for word in SERVICES):
        from . import services

        yield services.read
