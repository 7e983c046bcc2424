"""The known errors, from all the files of entries."""

from __future__ import annotations

from functools import cache

from .model import KnownError, Silent


@cache
def known_errors() -> tuple[KnownError, ...]:
    """The whole catalogue, in the order of its files."""
    from .entries import ERRORS

    return ERRORS


@cache
def silent() -> tuple[Silent, ...]:
    """The ids that stand for something known which leaves no text."""
    from .entries import SILENT

    return SILENT
