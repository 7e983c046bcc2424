"""The report as GitHub-flavoured Markdown, for pull requests: text of others stays text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain

from tpudiag.model import Evidence, Finding, Outcome, Report, Severity, Verdict
from tpudiag.xprof_pages import page

from . import _words

_SPECIAL = re.compile(r"[\\`*_\[\]|~$!]")
# At the beginning of a line these would make a list or a heading of it.
_STARTER = re.compile(r"^(\d+)(?=[.)](?:\s|$))|^(?=[#+=-])")
# Code hosts tell people of their names behind @, and link numbers behind # and bare addresses.
_MENTION = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)")


def render(report: Report) -> str:
    """The report as Markdown."""
    return "\n\n".join(block for block in _blocks(report) if block) + "\n"


def _blocks(report: Report) -> Iterator[str]:
    """Paragraphs, tables and code, most urgent first."""
    yield f"## {_escape(_words.title(report))}"
    if report.partial is not None:
        yield f"> **Not the whole report:** {_escape(_words.closed(report.partial))}"
    if report.crash is not None:
        yield "<details>\n<summary>Traceback of the job</summary>"
        yield _fence(report.crash.traceback, "text")
        yield "</details>"
    yield f"**{_words.summary(report)}**"
    notes = [*report.notes, *filter(None, [_words.writes(report)])]
    if notes:
        yield "\n".join(f"- {_escape(note)}" for note in notes)
    failed = _words.failures(report)
    if failed:
        rows = [
            (o.severity.value, _check(o), _where(f), _escape(f.message), _escape(_words.cost(f)))
            for o in failed
            for f in _words.findings(o)
        ]
        yield _table(("severity", "check", "where", "what", "costs"), rows)
    for outcome in failed:
        yield from _failure(outcome)
        if report.next_command is not None and (opened := page(outcome.id)):
            yield f"In XProf: **{opened}**"
    yield from _section(
        "Broken: a fault of the check itself, not of the job",
        ("check", "error"),
        [
            (_check(o), _code(_words.line(o.cause or "")))
            for o in _words.ended(report, Verdict.BROKEN)
        ],
    )
    # Of a profile the tables are what people come for.
    parts = _verdicts(report), _figures(report)
    yield from chain(*(parts if report.subject.kind == "job" else reversed(parts)))
    if links := _words.web_links(report):
        yield "### In XProf"
        yield "\n".join(f"- {_escape(link.name)}: <{_words.line(link.url)}>" for link in links)
    if report.next_command is not None:
        yield f"Open the profile:\n\n{_fence(report.next_command, 'sh')}"


def _verdicts(report: Report) -> Iterator[str]:
    passed = [
        (_check(o), _escape(_words.proofs(o.evidence)))
        for o in _words.ended(report, Verdict.PASSED)
    ]
    yield from _folded(f"{len(passed)} passed", ("check", "evidence"), passed)
    yield from _folded(
        f"{report.count(Verdict.SKIPPED)} skipped: not measured, so not known to be healthy",
        ("checks", "reason", "to measure it"),
        [
            ("<br>".join(map(_check, members)), _escape(reason), _escape(how))
            for members, reason, how in _words.skipped_groups(report)
        ],
    )


def _failure(outcome: Outcome) -> Iterator[str]:
    """A failed check in full."""
    yield f"### {outcome.severity.value}: {_check(outcome)}"
    for finding, fix in _words.with_fixes(_words.findings(outcome)):
        yield _said(finding, outcome.severity)
        yield _evidence(finding.evidence)
        if (link := _words.web_link(finding)) is not None:
            yield f"In XProf: <{_words.line(link)}>"
        if fix:
            yield f"Fix:\n\n{_fence(fix, 'python')}"
    yield _evidence(outcome.evidence)
    if outcome.cause is not None:
        yield _escape(_words.sentence(outcome.cause))


def _said(finding: Finding, severity: Severity) -> str:
    degree = finding.severity
    parts = (
        _where(finding),
        f"**{degree.value}**" if degree is not None and degree is not severity else "",
        _escape(finding.message),
        f"Costs {_escape(_words.cost(finding))}." if _words.cost(finding) else "",
    )
    return " ".join(part for part in parts if part)


def _where(finding: Finding) -> str:
    return "" if finding.location is None else _code(str(finding.location))


def _evidence(evidence: Sequence[Evidence]) -> str:
    """Figures in a table."""
    rows = [tuple(map(_escape, _words.cells(item))) for item in evidence]
    return _table(("evidence", "value", "limit", "source"), rows) if rows else ""


def _figures(report: Report) -> Iterator[str]:
    measured = [
        tuple(
            map(
                _escape,
                (_words.measure_name(name, m.unit), _words.figure(m.value, m.unit), m.source),
            )
        )
        for name, m in report.measurements.items()
    ]
    yield from _section("Measurements", ("figure", "value", "source"), measured)
    for table in report.tables:
        rows = [tuple(_escape(_words.figure(cell)) for cell in row) for row in table.rows]
        heads = tuple(_escape(column) for column in table.columns)
        yield from _section(f"{_escape(table.title)} ({_escape(table.source)})", heads, rows)


def _section(heading: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows and heads:
        yield f"### {heading}"
        yield _table(heads, rows)


def _folded(heading: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield f"<details>\n<summary>{heading}</summary>"
        yield _table(heads, rows)
        yield "</details>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows))


def _check(outcome: Outcome) -> str:
    return _code(f"{outcome.id} {outcome.name}")


def _escape(text: str) -> str:
    marked = escape(_SPECIAL.sub(r"\\\g<0>", _words.line(text)), quote=False)
    marked = _MENTION.sub("<!-- -->", marked)
    return _STARTER.sub(r"\1\\", marked)


def _code(text: str) -> str:
    """A code span of text on one line; it holds in a table too."""
    words = _words.line(text)
    if not words:
        return ""
    # A | ends a table's cell even within ticks, where a backslash escapes nothing.
    if "|" in words or "\\" in words:
        return f"<code>{_escape(words)}</code>"
    ticks = "`" * (max((len(run) for run in re.findall("`+", words)), default=0) + 1)
    pad = " " if words[0] == "`" or words[-1] == "`" else ""
    return f"{ticks}{pad}{words}{pad}{ticks}"


def _fence(text: str, language: str) -> str:
    """A block of code that no fence within it can end."""
    code = _words.clean(text).strip("\n")
    ticks = "`" * max(3, max((len(run) for run in re.findall("`+", code)), default=0) + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"
