"""The user's source lines that a report keeps, found by the line that a finding names."""

from dataclasses import dataclass

from tpudiag.model import Location, Report
from tpudiag.report_figures import Excerpt

from ._words import clean


@dataclass(frozen=True)
class Row:
    """A line of the user's source."""

    number: int
    text: str
    named: bool


class Sources:
    """The excerpts of a report, by file."""

    def __init__(self, report: Report) -> None:
        self._by_file: dict[tuple[str, int | None], list[Excerpt]] = {}
        for excerpt in report.excerpts:
            self._by_file.setdefault((excerpt.file, excerpt.cell), []).append(excerpt)

    def rows(self, place: Location | None) -> list[Row]:
        """The lines around a place, from the excerpt that shows most around it."""
        if place is None or place.line is None:
            return []
        number, known = place.line, self._by_file.get((place.file, place.cell), ())
        near = [e for e in known if 0 <= number - e.first_line < len(e.lines)]
        if not near:
            return []
        # By the lines from the named one to the nearer end.
        most = max(
            near, key=lambda e: min(number - e.first_line, e.first_line + len(e.lines) - number)
        )
        return [
            Row(at, clean(text), at == number)
            for at, text in enumerate(most.lines, most.first_line)
        ]

    def line(self, place: Location) -> str | None:
        """The text of the line itself, where the report has it."""
        return next((row.text for row in self.rows(place) if row.named), None)
