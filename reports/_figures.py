"""Measurements and tables of a report in text, in columns where these have room."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from tpudiag.report_figures import Measurement, Table

from ._columns import LEAST_WORDS, Line, Span, clip, cut, heading, in_columns, paragraph
from ._words import figure, line, measure_name

PROFILE = "profile"
"""How sources of figures begin that a profile holds."""
WORDS_BELOW = 24
"""Characters from which on the words of a column may stand below their row."""
RANGE_ROOM = 26
"""Characters that a range and its gaps take."""
_FIGURE = re.compile(r"[-+<>~]?[\d.]")


def measured(
    measurements: Mapping[str, Measurement], width: int, short: bool = False
) -> Iterator[Line]:
    """The figures that stand outside any check; an estimate with its range.

    In short without their sources, where all come from a profile.
    """
    if measurements:
        yield from heading("Measurements")
    sources = [line(m.source) for m in measurements.values()]
    of_profile = all(source.startswith(PROFILE) for source in sources)
    rows = [
        (measure_name(name, m.unit), figure(m.value, m.unit), _range(m), source)
        for (name, m), source in zip(measurements.items(), sources, strict=True)
    ]
    if short:
        short_rows = [
            (name, value, "; ".join(filter(None, (span, "" if of_profile else source))))
            for name, value, span, source in rows
        ]
        yield from in_columns(short_rows, width, numeric=(False, True, False), prose=True)
    else:
        yield from _grouped(rows, width)


def _grouped(rows: Sequence[tuple[str, str, str, str]], width: int) -> Iterator[Line]:
    """Names, figures and ranges in columns; below those of one source in a row, that source."""
    needs = [len(name) + 2 + len(value) for name, value, _, _ in rows]
    # Few figures have names and units of many words: an edge for all would push the rest away.
    edge = max((need for need in needs if need <= width - RANGE_ROOM), default=0)
    for source, group in groupby(rows, key=itemgetter(3)):
        heads: list[str] = []
        for name, value, span, _ in group:
            kept = clip(value, width // 2)
            named = clip(name, width - 4 - len(kept))
            head = f"  {named}{kept:>{max(edge - len(named), len(kept) + 2)}}"
            fits = len(head) + 2 + len(span) <= width
            heads.append(f"{head}  {span}".rstrip() if fits else head)
            if not fits and span:
                heads.append(f"      {cut(span, width - 6)}")
        if len(heads) == 1 and len(heads[0]) + 2 + len(source) <= width:
            yield (Span(f"{heads[0]}  {source}".rstrip()),)
            continue
        yield from ((Span(head),) for head in heads)
        yield from paragraph(source, width, 6, style="dim")


def _range(measurement: Measurement) -> str:
    """`33 to 52` of an estimate."""
    low, high = measurement.low, measurement.high
    return "" if low is None or high is None else f"{figure(low)} to {figure(high)}"


def table_lines(table: Table, width: int) -> Iterator[Line]:
    """A table under its title.

    Where its figures would be cut, long words go below their row; else cells lose their middle.
    """
    name = clip(line(table.title), width - 20)
    yield from heading(f"{name} [{cut(line(table.source), width - len(name) - 3)}]")
    head = tuple(line(column) for column in table.columns)
    rows = [tuple(figure(cell) for cell in row) for row in table.rows]
    columns = [[row[i] for row in table.rows if i < len(row)] for i in range(len(head))]
    numeric = [_is_numeric(cells) for cells in columns]
    below = _below([head, *rows], numeric, width)
    kept = [i for i in range(len(head)) if i not in below]
    narrow = [tuple(row[i] for i in kept if i < len(row)) for row in (head, *rows)]
    firm = [_holds_figures(_cells(narrow[1:], i)) for i in range(len(kept))]
    made = list(in_columns(narrow, width, [numeric[i] for i in kept], heads=1, firm=firm))
    yield made[0]
    for row, drawn in zip(rows, made[1:], strict=True):
        yield drawn
        for i in below:
            if i < len(row) and row[i]:
                yield from paragraph(f"{head[i]}: {row[i]}", width, 6, 2, style="dim")


def _below(rows: Sequence[tuple[str, ...]], numeric: Sequence[bool], width: int) -> list[int]:
    """The columns of words that stand below their rows, so that the others have room."""
    whole: list[int] = []
    least: list[int] = []
    for i, right in enumerate(numeric):
        cells = _cells(rows, i)
        longest = max(map(len, cells), default=0)
        whole.append(longest)
        firm = right or _holds_figures(cells[1:])
        least.append(longest if firm else min(longest, LEAST_WORDS))
    below: list[int] = []
    while sum(least) - sum(least[i] for i in below) + len(least) - len(below) > width - 1:
        words = [
            i for i, w in enumerate(whole) if w > max(least[i], WORDS_BELOW) and i not in below
        ]
        # A table of names alone keeps them in its rows, clipped as they are.
        if not words or len(below) + 2 > len(least):
            break
        below.append(max(words, key=lambda i: (whole[i], i)))
    return sorted(below)


def _cells(rows: Sequence[tuple[str, ...]], column: int) -> list[str]:
    return [row[column] for row in rows if column < len(row)]


def _holds_figures(cells: Sequence[str]) -> bool:
    """Whether cells are figures with something beside them, as a range: none may be cut."""
    known = [cell for cell in cells if cell]
    return bool(known) and all(_FIGURE.match(cell) for cell in known)


def _is_numeric(cells: Sequence[object]) -> bool:
    known = [cell for cell in cells if cell not in (None, "")]
    return bool(known) and all(isinstance(cell, int | float) for cell in known)
