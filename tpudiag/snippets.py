"""The user's source lines around each finding, taken when the report is made."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tpudiag.bounded_files import python_lines
from tpudiag.errors import TpudiagError
from tpudiag.model import Location, Report
from tpudiag.report_figures import Excerpt
from tpudiag.sources import notebook

AROUND = 3
"""Lines before and after the one that a finding names."""
MOST = 200
LONGEST_LINE = 400


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
            around = (line[:LONGEST_LINE] for line in lines[first - 1 : number + AROUND])
            yield Excerpt(place.file, first, tuple(around), place.cell)


def _lines_of(place: Location, cells: Sequence[str] | None) -> tuple[str, ...]:
    if place.cell is None:
        return python_lines(place.file)
    try:
        sources = notebook.code_cells(place.file) if cells is None else cells
    except TpudiagError:
        return ()
    source = sources[place.cell - 1] if place.cell <= len(sources) else ""
    return tuple(source.splitlines())
