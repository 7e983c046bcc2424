"""Whole numbers in texts of others."""

DIGITS = 19
"""Of the largest number that is read: no count, size or time in ns has more."""


def whole(text: str) -> int | None:
    """The number that a text of ASCII digits is; None for any other text.

    `str.isdigit` is true of digits that `int` does not read, and of more than it reads.
    """
    return int(text) if len(text) <= DIGITS and text.isascii() and text.isdigit() else None
