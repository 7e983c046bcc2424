"""What `tpudiag fix` did, for the terminal: the difference, each change and its proof, the rest."""

from collections.abc import Iterator, Sequence

from tpudiag.model import GONE, Finding, Outcome, Report
from tpudiag.source_change import Mending, SourceChange

from ._columns import BLANK, Line, Span, code, paragraph
from ._layout import written
from ._words import clean, failures, figure, findings, line, measure_name, title

STYLES = {
    "written": "passed",
    "proven": "passed",
    "offered": "info",
    "dropped": "warning",
}
FIX_LINES = 12


def lines(report: Report, width: int) -> Iterator[Line]:
    """The difference first, then the changes, then what has none."""
    mending = report.mending or Mending(rehearsals=0)
    yield from paragraph(title(report), width, style="headline")
    if mending.diff:
        yield BLANK
        for row in clean(mending.diff).rstrip("\n").split("\n"):
            style = {"+": "passed", "-": "error", "@": "arrow"}.get(row[:1], "code")
            yield (Span(row, "bold" if row.startswith(("+++", "---")) else style),)
    changed = [(o, f, f.change) for o in failures(report) for f in findings(o) if f.change]
    if changed:
        yield BLANK
        for outcome, finding, change in changed:
            yield (
                Span(f"{change.state:8} ", STYLES[change.state]),
                Span(f"{line(outcome.id)} ", "id"),
                Span(line(str(finding.location or change.file)), "location"),
                Span(f"  {line(change.title)}"),
            )
            if change.proof:
                yield from paragraph(change.proof, width, 9, style="note")
            if change.worth:
                yield from paragraph(f"worth {change.worth}", width, 9, style="cost")
    if mending.figures:
        yield BLANK
    for each in mending.figures:
        before = figure(each.before, each.unit if each.unit == "bytes" else "")
        text = f"{measure_name(each.name, each.unit)}: {before} -> {figure(each.after, each.unit)}"
        yield from paragraph(text, width)
    rest = [(o, f) for o in failures(report) for f in findings(o) if f.no_change is not None]
    for outcome, finding in rest:
        yield from _left(outcome, finding, width)
    yield from written(report, width)
    yield from _ending(report, mending, [change for _, _, change in changed], width)


def _left(outcome: Outcome, finding: Finding, width: int) -> Iterator[Line]:
    yield BLANK
    place = f" {line(str(finding.location))}" if finding.location is not None else ""
    gone = finding.no_change == GONE
    yield (
        Span("gone     ", "passed") if gone else Span("by hand  ", "warning"),
        Span(line(outcome.id), "id"),
        Span(place, "location"),
        Span(f"  {line(outcome.name)}"),
    )
    yield from paragraph(f"{finding.no_change}.", width, 9, style="note")
    if finding.fix.strip() and not gone:
        yield from code(finding.fix, " " * 9, FIX_LINES)


def _ending(
    report: Report, mending: Mending, changes: Sequence[SourceChange], width: int
) -> Iterator[Line]:
    findings = [f for outcome in failures(report) for f in outcome.findings]
    count = sum(f.change is not None or f.no_change is not None for f in findings)  # requested ones
    gone = [f for f in findings if f.no_change == GONE]
    good = sum(change.state in ("proven", "written") for change in changes) + len(gone)
    many = f"{mending.rehearsals} rehearsal" + ("" if mending.rehearsals == 1 else "s")
    if not count:
        text = f"nothing to mend; {many}"
    else:
        text = f"{good} of {count} findings mended, {'proven by' if good else 'tried in'} {many}"
    yield from paragraph(text, width, style="passed" if good == count else "bold")
    for file in mending.written:
        yield Span("written: ", "bold"), Span(line(file), "location")
    for refusal in mending.refused:
        yield from paragraph(refusal, width, style="error")
    if good and not mending.written:
        yield (
            Span(
                "nothing is changed yet; --write changes the files, --patch FILE makes a patch",
                "note",
            ),
        )
