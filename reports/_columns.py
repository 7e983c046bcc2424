"""Rows of styled words in columns that fit a width."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ._wrap import clip, cut


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
