"""Styled words that fit a width: wrapped lines, paragraphs, headings, and rows in columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ._words import clean

_JOINTS = re.compile(r"[^/,;=&?|]*[/,;=&?|]+|[^/,;=&?|]+")


def wrap(text: str, width: int) -> Iterator[str]:
    """Lines of at most `width` characters; newlines of the text stay."""
    for paragraph in text.split("\n"):
        yield from _paragraph(paragraph.split(), max(width, 1))


def _paragraph(words: list[str], width: int) -> Iterator[str]:
    """One paragraph; a word longer than a line is parted."""
    held = ""
    for word in words:
        if held and len(held) + 1 + len(word) <= width:
            held = f"{held} {word}"
            continue
        if held:
            yield held
        *full, held = _parts(word, width)
        yield from full
    yield held


def _parts(word: str, width: int) -> list[str]:
    """A word in pieces that fit, after a slash or the like where there is one."""
    if len(word) <= width:
        return [word]
    pieces = [""]
    for joint in _JOINTS.findall(word):
        rest: str = joint
        if pieces[-1] and len(pieces[-1]) + len(rest) > width:
            pieces.append("")
        while len(pieces[-1]) + len(rest) > width:
            pieces[-1], rest = rest[:width], rest[width:]
            pieces.append("")
        pieces[-1] += rest
    return [piece for piece in pieces if piece] or [""]


def cut(text: str, width: int) -> str:
    """The text, its end left out where it is too long: for prose."""
    if len(text) <= width:
        return text
    return text[:width] if width <= 3 else f"{text[: width - 3].rstrip(' ,;:')}..."


def clip(text: str, width: int) -> str:
    """The text, its middle left out where it is too long."""
    if len(text) <= width:
        return text
    if width <= 3:
        return text[:width]
    head = (width - 3 + 1) // 2
    tail = width - 3 - head
    return f"{text[:head]}...{text[len(text) - tail :]}"


@dataclass(frozen=True)
class Span:
    """Words in one style; the styles are named in rich.py."""

    text: str
    style: str = ""


Line = tuple[Span, ...]
LEAST_WORDS, FEWER_WORDS = 16, 10
"""Characters that a column of words keeps while another can yield; before heads lose theirs."""
LEAST_PROSE = 8
MOST_FIGURE = 32
"""Characters of a figure with its unit, which stay whole."""


def in_columns(
    rows: Sequence[tuple[str, ...]],
    width: int,
    numeric: Sequence[bool],
    heads: int = 0,
    prose: bool = False,
    firm: Sequence[bool] = (),
) -> Iterator[Line]:
    """Rows in columns, numbers to the right; gaps yield, then words, until all fit.

    Cells that do not fit lose their middle; those of a last column of prose their end, and it
    yields first. Columns that are `firm` are words that yield as late as numbers do.
    """
    count = len(numeric)
    full = [tuple(row[:count]) + ("",) * (count - len(row)) for row in rows]
    lengths = [[len(row[i]) for row in full] for i in range(count)]
    widths = [max(column, default=0) for column in lengths]
    late = [a or b for a, b in zip(numeric, firm or (False,) * count, strict=True)]
    least = [w if kept else min(w, LEAST_WORDS) for w, kept in zip(widths, late, strict=True)]
    gap = 2 if sum(least) + 2 * count <= width else 1
    figures = [min(max(column[heads:], default=0), MOST_FIGURE) for column in lengths]
    # In turns, while something is too wide: words yield first, then the heads above figures, then
    # ranges beside figures, and then words until hardly any are left.
    for words, of_figures, of_firm in (
        (LEAST_WORDS, widths, widths),
        (FEWER_WORDS, widths, widths),
        (FEWER_WORDS, figures, widths),
        (FEWER_WORDS, figures, [LEAST_WORDS] * count),
        (3, figures, [LEAST_WORDS] * count),
    ):
        floors = [
            of_figures[i] if numeric[i] else of_firm[i] if late[i] else words for i in range(count)
        ]
        if prose:
            floors[-1] = min(floors[-1], LEAST_PROSE)
        widths = _narrowed(widths, floors, width - 2 - gap * (count - 1))
    for number, row in enumerate(full):
        cells = [
            f"{clip(cell, wide):>{wide}}" if right else f"{clip(cell, wide):<{wide}}"
            for cell, wide, right in zip(row, widths, numeric, strict=True)
        ]
        if prose:
            cells[-1] = cut(row[-1], widths[-1])
        text = "  " + (" " * gap).join(cells)
        yield (Span(text.rstrip(), "dim" if number < heads else ""),)


def _narrowed(widths: Sequence[int], floors: Sequence[int], room: int) -> list[int]:
    """Column widths that fit together where the floors let them, the last narrowed first."""
    made = list(widths)
    for column in reversed(range(len(made))):
        made[column] -= min(max(sum(made) - room, 0), max(made[column] - floors[column], 0))
    return made


BLANK: Line = ()


def paragraph(
    text: str, width: int, indent: int = 0, hang: int = 0, style: str = ""
) -> Iterator[Line]:
    """A paragraph, wrapped; lines after the first stand `hang` further in."""
    for number, part in enumerate(wrap(clean(text), width - indent - hang)):
        yield (Span(" " * (indent + (hang if number else 0)) + part, style),)


def code(text: str, indent: str, most: int) -> Iterator[Line]:
    """The first lines of code as it is to be copied."""
    for row in clean(text).strip("\n").split("\n")[:most]:
        yield (Span(f"{indent}{row}" if row.strip() else "", "code"),)


def heading(text: str) -> Iterator[Line]:
    """A heading, parted from what is above."""
    yield BLANK
    yield (Span(text, "heading"),)
