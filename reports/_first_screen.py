"""What people see first: what is wrong, at which line, what it costs, the fix, and what is next."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tpudiag.model import Finding, Outcome, Report, Severity, Verdict
from tpudiag.report_figures import Measurement
from tpudiag.source_change import Effect

from . import _layout, _mending, _words
from ._columns import BLANK, Line, Span, clip, code, paragraph, wrap
from ._figures import measured, table_lines
from ._layout import link_lines, mood, passed_lines
from ._source import Sources

FINDINGS = 3
"""Findings of one check that are shown; the others are named by their place."""
FIX_LINES = 12
FRAMES, ERROR_LINES = 4, 6
"""Limits of the job's own traceback: the innermost user frames, and lines of its message."""
NOTES = 3
NOTE_LINES = 2
INDENT = "      "
TABLES = 4
FEW = 4
"""Of no more checks than these, what passed is shown with its evidence."""
ROWS = 8
"""Rows of a table that are shown."""
DETAILS = "-v"


def lines(report: Report, width: int) -> Iterator[Line]:
    """The report in short; `-v` and the other formats hold all of it."""
    if report.mending is not None:
        yield from _mending.lines(report, width)
        return
    yield from _layout.opening(report, width, FRAMES, ERROR_LINES)
    yield from _notes(report, width)
    sources = Sources(report)
    for outcome in _words.failures(report):
        yield from _failure(outcome, sources, width)
    yield from _broken(report, width)
    if len(report.outcomes) <= FEW:
        yield from passed_lines(report, width)
    if report.subject.kind != "job" or report.plan:
        yield from _figures(report, width)
    yield from _predicted(report, width)
    if not report.outcomes:  # a comparison; findings have links of their own
        yield from link_lines(report)
    yield from _layout.written(report, width)
    yield (Span(counts(report), mood(report)),)
    yield from mends(report)
    yield from _layout.next_command(report)


def mends(report: Report) -> Iterator[Line]:
    """`tpudiag fix train.py mends 4 of 6`, counted by the changes that were made for findings."""
    all_findings = [finding for outcome in _words.failures(report) for finding in outcome.findings]
    count = sum(
        # Changes of the model are only made on request.
        finding.change is not None and finding.change.effect is not Effect.MODEL
        for finding in all_findings
    )
    if report.fix_command is not None and count:
        what = f" mends {count} of {len(all_findings)}; it proves each by rehearsing again"
        yield Span(_words.line(report.fix_command), "command"), Span(what)


def whole(report: Report, width: int) -> Iterator[Line]:
    """All of the report, after what `tpudiag fix` did."""
    if report.mending is not None:
        yield from _mending.lines(report, width)
        yield BLANK
    yield from _layout.lines(report, width)


def counts(report: Report) -> str:
    """`1 error, 1 warning; 25 passed, 11 not measured (-v shows them)`."""
    failed = [
        f"{number} {_words.plural(severity, number)}"
        for severity in reversed(Severity)
        if (number := sum(o.severity is severity for o in _words.failures(report)))
    ]
    passed, skipped = report.count(Verdict.PASSED), report.count(Verdict.SKIPPED)
    rest = f"{passed} passed, {skipped} not measured"
    if broken := report.count(Verdict.BROKEN):
        rest += f", {broken} broken"
    if silenced := sum(len(outcome.silenced) for outcome in report.outcomes):
        rest += f", {silenced} silenced"
    shown = f" ({DETAILS} shows them)" if passed or skipped or len(report.notes) > NOTES else ""
    return "; ".join([*([", ".join(failed)] if failed else []), rest + shown])


def _notes(report: Report, width: int) -> Iterator[Line]:
    """The first sentences of the first notes, two lines each at most."""
    for note in report.notes[:NOTES]:
        first = _words.closed(_words.line(note).partition(". ")[0])
        rows = list(wrap(f"Note: {first}", width - len(INDENT)))
        if len(rows) > NOTE_LINES:
            (last, *_) = wrap(rows[NOTE_LINES - 1], width - len(INDENT) - len("..."))
            rows[NOTE_LINES - 1] = f"{last}..."
        for number, row in enumerate(rows[:NOTE_LINES]):
            yield (Span((INDENT if number else "") + row, "note"),)


def _failure(outcome: Outcome, sources: Sources, width: int) -> Iterator[Line]:
    """A failed check: its name, its first findings, and where the others are."""
    yield from _layout.failure_head(outcome)
    ordered = _words.findings(outcome)
    for finding, fix in _words.with_fixes(ordered[:FINDINGS]):
        yield from _finding(finding, sources, width)
        if fix:
            yield from _fix(fix)
    if others := ordered[FINDINGS:]:
        places = [_words.line(str(f.location)) for f in others if f.location is not None]
        at = f": {', '.join(places)}" if places else ""
        yield (Span(clip(f"  and {len(others)} more{at}", width), "note"),)


def _finding(finding: Finding, sources: Sources, width: int) -> Iterator[Line]:
    if finding.location is not None:
        yield Span("  --> ", "arrow"), Span(_words.line(str(finding.location)), "location")
        text = sources.line(finding.location)
        if text is not None and text.strip():
            gutter = f"{finding.location.line or 0:>5}"
            shown = clip(text.rstrip(), max(width - len(gutter) - 3, 8))
            code_at = len(shown) - len(shown.lstrip())
            yield Span(f"{gutter} | ", "arrow"), Span(shown, "code")
            carets = "^" * (len(shown) - code_at)
            yield Span(" " * len(gutter) + " | " + " " * code_at, "arrow"), Span(carets, "caret")
    yield from paragraph(finding.message, width, 2, style="message")
    if worth := _words.cost(finding):
        yield from paragraph(f"Costs {worth}.", width, 2, style="cost")


def _fix(fix: str) -> Iterator[Line]:
    """A fix as it is to be copied; beside the word where it is one line."""
    rows = _words.clean(fix).strip("\n").split("\n")
    if len(rows) == 1:
        yield Span("  fix  ", "fix"), Span(rows[0].strip(), "code")
        return
    yield (Span("  fix", "fix"),)
    yield from code(fix, "    ", FIX_LINES)
    if len(rows) > FIX_LINES:
        yield (Span(f"    ... {len(rows) - FIX_LINES} more lines ({DETAILS})", "note"),)


def _broken(report: Report, width: int) -> Iterator[Line]:
    broken = _words.ended(report, Verdict.BROKEN)
    if broken:
        names = ", ".join(_words.line(outcome.id) for outcome in broken)
        yield BLANK
        text = f"Broken, a fault of tpudiag and not of the job: {names} ({DETAILS} says how)."
        yield from paragraph(text, width, style="broken")


def _figures(report: Report, width: int) -> Iterator[Line]:
    """What a profile, a trainer or a plan is looked at for: its first tables, and figures."""
    for number, table in enumerate(report.tables[:TABLES]):
        # The plan's first table is its main result.
        most = len(table.rows) if report.plan and not number else ROWS
        yield from table_lines(replace(table, rows=table.rows[:most]), width)
        if (more := len(table.rows) - most) > 0:
            yield (Span(f"  ... {more} more rows ({DETAILS})", "note"),)
    if (more := len(report.tables) - TABLES) > 0:
        yield BLANK
        yield (Span(f"{more} more tables ({DETAILS} shows them)", "note"),)
    if report.subject.kind != "job":
        yield from measured(report.measurements, width, short=True)


def _predicted(report: Report, width: int) -> Iterator[Line]:
    """The step as predicted for the target, with its range and what bounds it."""
    step = report.measurements.get("predicted_step_ms")
    if step is None or report.target is None or report.plan:
        return
    value, _, span = _estimate(step).partition(" (")
    parts: list[str] = [f"{value} a step" + (f" ({span}" if span else "")]
    if (bound := report.measurements.get("predicted_bound_by")) is not None:
        parts.append(f"bound by {_words.line(str(bound.value))}")
    yield BLANK
    yield from paragraph(f"predicted on {report.target.name}: " + ", ".join(parts), width, hang=2)
    rest: Sequence[tuple[str, str]] = (
        ("predicted_examples_per_second", ""),
        ("hbm_need_bytes", " of HBM"),
        ("predicted_cost_per_million_examples", " for a million examples"),
    )
    sentences = [
        _estimate(m) + tail
        for name, tail in rest
        if (m := report.measurements.get(name)) is not None
    ]
    if sentences:
        yield from paragraph("; ".join(sentences), width, 2, 2)
    yield from _predicted_input(report, width)


def _predicted_input(report: Report, width: int) -> Iterator[Line]:
    """What a host can feed, against what the predicted step needs of it."""
    gives = report.measurements.get("input_capacity_examples_per_second_per_host")
    needs = report.measurements.get("input_needed_examples_per_second_per_host")
    bound = report.measurements.get("predicted_bound_by")
    # A step that its dispatch rules is too short for a prediction of what it needs.
    if gives is None or needs is None or (bound is not None and bound.value == "dispatch"):
        return
    cores = report.measurements.get("input_cores_needed_per_host")
    there = report.measurements.get("input_vcpus_per_host")
    work = ""
    if cores is not None and there is not None:
        work = f", the work of {_estimate(cores)} of its {_words.figure(there.value)}"
    text = (
        f"input: the step needs {_estimate(needs)} of a host{work}; the pipeline, by "
        f"what it took alone here, gives {_estimate(gives)}: {_enough(gives, needs)}"
    )
    yield from paragraph(text, width, 2, 2)


def _enough(gives: Measurement, needs: Measurement) -> str:
    if gives.low is None or gives.high is None or needs.low is None or needs.high is None:
        return "compare the two"
    if gives.low >= needs.high:
        return "enough"
    if gives.high < needs.low:
        return "too little, the step waits"
    return "the ranges overlap, so that it is not known whether that is enough"


def _estimate(measured: Measurement) -> str:
    """A figure; where it is an estimate with no more digits than it is worth, and its range."""
    if measured.low is None or measured.high is None or not isinstance(measured.value, float):
        return _words.figure(measured.value, measured.unit)
    value, low, high = (
        float(f"{end:.3g}") for end in (measured.value, measured.low, measured.high)
    )
    return f"{_words.figure(value, measured.unit)} ({_words.figure(low)} to {_words.figure(high)})"
