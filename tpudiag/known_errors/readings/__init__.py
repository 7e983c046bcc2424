"""What an error itself says of its cause: what its names, shapes and arguments mean."""

from __future__ import annotations

import re

from .meaning import Reading

BEFORE, BEHIND = 200, 700
"""Bytes around a match in which what it names may stand."""


def reading(bare: bytes, hit: re.Match[bytes], *, vague: bool) -> Reading | None:
    """What a match says itself, in a text without white space; None where that tells nothing.

    Of what is vague (a form, no cause) the operation is read as well.
    """
    from . import calls, names, operations, services, shapes

    first = max(0, hit.start() - BEFORE)
    around = bare[first : hit.end() + BEHIND].decode(errors="replace")
    begin, end = hit.start() - first, hit.end() - first
    for read in (names.read, shapes.read, calls.read, services.read):
        if meant := read(around, begin, end):
            return meant
    return operations.read(around, begin) if vague else None
