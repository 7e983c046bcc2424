"""The known errors, from all the files of entries."""

from __future__ import annotations

from .model import KnownError, Silent


def known_errors() -> tuple[KnownError, ...]:
    """The whole catalogue, in the order of its files."""
    from .entries import ERRORS

    return ERRORS


def silent() -> tuple[Silent, ...]:
    """The ids that stand for something known which leaves no text."""
    from .entries import SILENT

    return SILENT
