"""The user's source lines around each finding, taken when the report is made."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tpudiag.errors import TpudiagError
from tpudiag.model import Location, Report
from tpudiag.report_figures import Excerpt
from tpudiag.sources import notebook

AROUND = 3
"""Lines before and after the one that a finding names."""
MOST = 200
LONGEST_LINE = 400
LARGEST_BYTES = 5_000_000


def added(report: Report, cells: Sequence[str] | None = None) -> Report:
    """The report with the lines that its findings name; as it is where it has some.

    `cells` are those of a session that goes on, which no file holds.
    """
    if report.excerpts:
        return report
    return replace(report, excerpts=tuple(_taken(report, cells))[:MOST])


def _taken(report: Report, cells: Sequence[str] | None) -> Iterator[Excerpt]:
    """One excerpt for each line named, in the order of the findings.

    Only Python files and notebooks: a profile of unknown origin may name any file of this machine.
    """
    files: dict[tuple[str, int | None], tuple[str, ...]] = {}
    places = dict.fromkeys(
        finding.location for outcome in report.outcomes for finding in outcome.findings
    )
    for place in places:
        if place is None or (place.line or 0) < 1:
            continue
        key = place.file, place.cell
        if key not in files:
            files[key] = _lines_of(place, cells)
        lines, number = files[key], place.line or 1
        first = max(number - AROUND, 1)
        if number <= len(lines):
            yield Excerpt(place.file, first, lines[first - 1 : number + AROUND], place.cell)


def _lines_of(place: Location, cells: Sequence[str] | None) -> tuple[str, ...]:
    if place.cell is None:
        return _lines(Path(place.file)) if place.file.endswith(".py") else ()
    try:
        sources = notebook.code_cells(place.file) if cells is None else cells
    except TpudiagError:
        return ()
    source = sources[place.cell - 1] if place.cell <= len(sources) else ""
    return tuple(line[:LONGEST_LINE] for line in source.splitlines())


def _lines(file: Path) -> tuple[str, ...]:
    try:
        # A name in a profile may be that of a pipe, which would be waited for.
        if not file.is_file() or file.stat().st_size > LARGEST_BYTES:
            return ()
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(line[:LONGEST_LINE] for line in text.splitlines())
