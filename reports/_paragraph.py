"""Paragraphs and headings of a report in text."""

from collections.abc import Iterator

from ._columns import Line, Span
from ._words import clean
from ._wrap import wrap

BLANK: Line = ()


def paragraph(
    text: str, width: int, indent: int = 0, hang: int = 0, style: str = ""
) -> Iterator[Line]:
    """A paragraph, wrapped; lines after the first stand `hang` further in."""
    for number, part in enumerate(wrap(clean(text), width - indent - hang)):
        yield (Span(" " * (indent + (hang if number else 0)) + part, style),)


def heading(text: str) -> Iterator[Line]:
    """A heading, parted from what is above."""
    yield BLANK
    yield (Span(text, "heading"),)
