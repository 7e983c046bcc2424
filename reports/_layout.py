"""The report as lines of styled words, for the terminal: rich colours them, text does not."""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain

from tpudiag.model import Evidence, Finding, Outcome, Report, Severity, Verdict
from tpudiag.script_run import Crash
from tpudiag.xprof_pages import page

from . import _words
from ._columns import BLANK, Line, Span, code, heading, paragraph, wrap
from ._figures import measured, table_lines

MOST_ERROR_LINES = 30
"""Of a job's error, in text; what TensorFlow says may have hundreds."""
_NAME_WIDTH = 23


def lines(report: Report, width: int) -> Iterator[Line]:
    """The whole report, most urgent first; only code, locations and commands pass `width`."""
    yield from opening(report, width, None, MOST_ERROR_LINES)
    for note in report.notes:
        yield from paragraph(f"Note: {_words.line(note)}", width, hang=6, style="note")
    for outcome in _words.failures(report):
        yield from _failure(outcome, width)
        if report.next_command is not None and (opened := page(outcome.id)):
            yield from paragraph(f"In XProf: {opened}", width, 2, style="note")
    if broken := _words.ended(report, Verdict.BROKEN):
        yield from heading("Broken: a fault of the check itself, not of the job")
    for outcome in broken:
        yield from _entry(outcome, _words.line(outcome.cause or ""), width, "broken")
    # Of a profile the tables are what people come for.
    verdicts = chain(passed_lines(report, width), _skipped(report, width))
    parts = verdicts, _figures(report, width)
    yield from chain(*(parts if report.subject.kind == "job" else reversed(parts)))
    yield from link_lines(report)
    yield from written(report, width)
    yield from paragraph(_words.summary(report), width, style=mood(report))
    yield from next_command(report)


def opening(report: Report, width: int, frames: int | None, error_lines: int) -> Iterator[Line]:
    """The headline, what is missing of the report, and the job's own error, in so many lines."""
    yield from paragraph(_words.title(report), width, style="headline")
    if report.partial is not None:
        text = f"Not the whole report: {_words.closed(report.partial)}"
        yield from paragraph(text, width, style="warning")
    if report.crash is not None:
        yield from crash_lines(report.crash, frames or len(report.crash.frames), error_lines)


def written(report: Report, width: int) -> Iterator[Line]:
    """What became of the files that the job wrote."""
    yield BLANK
    if said := _words.writes(report):
        yield from paragraph(said, width, style="note")


def next_command(report: Report) -> Iterator[Line]:
    """What opens the profile."""
    if report.next_command is not None:
        command = Span(_words.line(report.next_command), "command")
        yield (Span("Open the profile: ", "bold"), command)


def _figures(report: Report, width: int) -> Iterator[Line]:
    yield from measured(report.measurements, width)
    for table in report.tables:
        yield from table_lines(table, width)


def link_lines(report: Report) -> Iterator[Line]:
    """Where XProf shows it, each whole on a line to be opened."""
    links = _words.web_links(report)
    if links:
        yield from heading("In XProf")
    for link in links:
        yield (
            Span(f"  {_words.line(link.name)}: ", "note"),
            Span(_words.line(link.url), "location"),
        )


def crash_lines(crash: Crash, frames: int, error_lines: int) -> Iterator[Line]:
    """The job's own error: the user's frames, the innermost kept; the whole is in JSON, HTML."""
    for frame in crash.frames[-frames:] if frames else ():
        yield (
            Span("  --> ", "arrow"),
            Span(_words.line(str(frame.location)), "location"),
            Span(f" in {_words.line(frame.function)}"),
        )
        if frame.text:
            yield (Span(f"        {_words.line(frame.text)}"),)
    rows = [row for row in crash.error.strip().splitlines() if row.strip()]
    yield from ((Span(f"  {_words.line(row)}", "error"),) for row in rows[:error_lines])
    if (more := len(rows) - error_lines) > 0:
        yield (Span(f"  ... {more} more lines", "note"),)


def failure_head(outcome: Outcome) -> Iterator[Line]:
    """`error TPU201 input-bound`, parted from what is above."""
    label = outcome.severity.value
    yield BLANK
    yield Span(label, label), Span(f" {_words.line(outcome.id)} {_words.line(outcome.name)}", "id")


def _failure(outcome: Outcome, width: int) -> Iterator[Line]:
    """A failed check: its name, then each finding, and the evidence of all."""
    yield from failure_head(outcome)
    for number, (finding, fix) in enumerate(_words.with_fixes(_words.findings(outcome))):
        if number:
            yield BLANK
        yield from _finding(finding, outcome.severity, width)
        if fix:
            yield BLANK
            yield (Span("  Fix:", "fix"),)
            yield from code(fix, "    ", sys.maxsize)
    if outcome.evidence:
        yield BLANK
        yield from _evidence(outcome.evidence, width)
    if outcome.cause is not None:
        yield from paragraph(_words.sentence(outcome.cause), width, 2, style="note")


def _finding(finding: Finding, severity: Severity, width: int) -> Iterator[Line]:
    """Where, what, what it costs, and the evidence."""
    if finding.location is not None:
        yield (Span("  --> ", "arrow"), Span(_words.line(str(finding.location)), "location"))
    degree = finding.severity
    own = "" if degree is None or degree is severity else f"({degree.value}) "
    yield from paragraph(own + finding.message, width, 2, style="message")
    if worth := _words.cost(finding):
        yield from paragraph(f"Costs {worth}.", width, 2, style="cost")
    if finding.evidence:
        yield BLANK
        yield from _evidence(finding.evidence, width)
    if (link := _words.web_link(finding)) is not None:
        yield BLANK
        yield (Span("  In XProf: ", "note"), Span(_words.line(link), "location"))


def _evidence(evidence: Sequence[Evidence], width: int) -> Iterator[Line]:
    """Figures in columns; as wrapped lines where a column would not fit."""
    rows = [
        (name, value, limit and f"limit {limit}", source)
        for name, value, limit, source in map(_words.cells, evidence)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    gaps = 2 * sum(1 for wide in widths if wide)
    if sum(widths) + gaps + 2 > width:
        for name, value, limit, source in rows:
            tail = ", ".join(part for part in (limit, source) if part)
            yield from paragraph(f"{name}: {value} ({tail})", width, 4, 2, "evidence")
        return
    for name, value, limit, source in rows:
        yield (
            Span(f"    {name:<{widths[0]}}  ", "evidence"),
            Span(f"{value:>{widths[1]}}", "value"),
            Span(f"  {limit:<{widths[2]}}" if widths[2] else "", "evidence"),
            Span(f"  {source}", "dim"),
        )


def _entry(outcome: Outcome, text: str, width: int, style: str) -> Iterator[Line]:
    """`TPU101 retracing   what it said`, wrapped under itself."""
    name, id_ = _words.line(outcome.name), _words.line(outcome.id)
    indent = 2 + len(id_) + 1 + max(_NAME_WIDTH, len(name)) + 1
    # Beside a long name its text would stand in a narrow column: it goes below.
    if indent > max(width // 2, 36):
        yield from paragraph(f"{id_} {name}", width, 2, 4, style)
        yield from paragraph(text, width, 4, style="evidence")
        return
    first, *rest = wrap(text, width - indent)
    yield (
        Span(f"  {id_}", style),
        Span(f" {name:<{indent - len(id_) - 4}} "),
        Span(first, "evidence"),
    )
    yield from ((Span(" " * indent + part, "evidence"),) for part in rest)


def passed_lines(report: Report, width: int) -> Iterator[Line]:
    """Passed checks, each with the evidence for it."""
    outcomes = _words.ended(report, Verdict.PASSED)
    if outcomes:
        yield from heading("Passed")
    for outcome in outcomes:
        yield from _entry(outcome, _words.proofs(outcome.evidence), width, "passed")


def _skipped(report: Report, width: int) -> Iterator[Line]:
    """Skipped checks, those that lack the same thing together."""
    if report.count(Verdict.SKIPPED):
        yield from heading("Skipped: not measured, so not known to be healthy")
    for members, reason, how in _words.skipped_groups(report):
        who = ", ".join(f"{_words.line(o.id)} {_words.line(o.name)}" for o in members)
        yield from paragraph(who, width, 2, 2, "skipped")
        if reason:
            yield from paragraph(reason, width, 4, style="evidence")
        if how:
            yield from paragraph(f"To measure it: {how}", width, 4, style="evidence")


def mood(report: Report) -> str:
    """The style of the summary line: that of the worst failure."""
    worst = report.worst_failure()
    if worst is not None:
        return worst.value
    return "broken" if report.count(Verdict.BROKEN) else "passed"
