"""The report as one HTML file: with plots, for any browser, and without any network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from tpudiag import __version__, explanation
from tpudiag.model import Excerpt, Finding, Outcome, Report, Severity, Verdict
from tpudiag.xprof_pages import page

from . import _plotting, _words

FIRST = 3
"""Findings named at the top."""
_POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class _Tile:
    """A count at the top, which is the filter's choice too."""

    state: str
    label: str
    count: int


@dataclass(frozen=True)
class _Row:
    """A line of the user's source."""

    number: int
    text: str
    named: bool


def render(report: Report) -> str:
    """The report as HTML."""
    script, library = _file("report.js"), _plotting.library()
    policy = _POLICY.format(f"{_plotting.script_hash(script.encode())} {library.hash}")
    template = _environment().get_template("report.html.j2")
    return template.render(
        report=report,
        policy=policy,
        style=Markup(_file("report.css")),
        script=Markup(script),
        library=library.packed,
        data=Markup(_plotting.data(report)),
        plots=_plotting.plots(report),
        version=__version__,
        tiles=_tiles(report),
        first=_first(report),
        rows=_source_rows(report),
    )


@cache
def _environment() -> Environment:
    """Jinja with what the template says: every value is escaped."""
    environment = Environment(
        autoescape=True, loader=FunctionLoader(_file), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {
        "line": _words.line, "clean": _words.clean, "closed": _words.closed,
        "sentence": _words.sentence,
    }  # fmt: skip
    environment.globals |= {
        "Verdict": Verdict, "cost": _words.cost, "ended": _words.ended, "explained": _explained,
        "failures": _words.failures, "figure": _words.figure, "findings": _words.findings,
        "is_number": _is_number, "measure_name": _words.measure_name, "page": page,
        "proofs": _words.proofs, "skipped_groups": _words.skipped_groups,
        "summary": _words.summary, "title": _words.title, "unit": _words.unit,
    }  # fmt: skip
    return environment


def _file(name: str) -> str:
    """A file of templates/."""
    return files("tpudiag.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _tiles(report: Report) -> list[_Tile]:
    """How many checks ended how; failures by severity."""
    severities = [o.severity for o in report.outcomes if o.verdict is Verdict.FAILED]
    return [
        _Tile("error", "errors", severities.count(Severity.ERROR)),
        _Tile("warning", "warnings", severities.count(Severity.WARNING)),
        _Tile("info", "infos", severities.count(Severity.INFO)),
        _Tile("broken", "broken", report.count(Verdict.BROKEN)),
        _Tile("passed", "passed", report.count(Verdict.PASSED)),
        _Tile("skipped", "skipped", report.count(Verdict.SKIPPED)),
    ]


def _first(report: Report) -> list[tuple[Outcome, Finding, str]]:
    """What to do first, and what each is worth: one finding of each of the worst checks."""
    worst = [(outcome, _words.findings(outcome)[0]) for outcome in _words.failures(report)[:FIRST]]
    return [(outcome, finding, _worth(finding, report)) for outcome, finding in worst]


def _worth(finding: Finding, report: Report) -> str:
    """The cost in time or bytes, with its share of the step; says so where it is not known."""
    cost = _words.cost(finding)
    if not cost:
        return "not measured"
    step = report.measurements.get("step_time_ms")
    ms, whole = finding.cost_ms_per_step, step.value if step else None
    if ms is None or not _is_number(whole) or not isinstance(whole, int | float) or whole <= 0:
        return cost
    return f"{cost} ({ms / whole:.0%} of the step)"


def _is_number(value: object) -> bool:
    """Whether a cell stands to the right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


@cache
def _explanations() -> dict[str, explanation.Explanation]:
    """What is known of each check, by id."""
    return {each.id: each for each in explanation.explanations()}


@cache
def _explained(id_: str) -> tuple[tuple[str, Markup], ...]:
    """Heading and text of each part of a check's explanation; none for a stranger."""
    known = _explanations().get(id_)
    markdown = MarkdownIt("commonmark", {"html": False}).disable(["image", "link", "autolink"])
    sections = known.sections if known else ()
    return tuple((heading, Markup(markdown.render(text))) for heading, text in sections)


def _source_rows(report: Report) -> Callable[[Finding], list[_Row]]:
    """A function that gives the source lines around a finding."""
    by_file: dict[str, list[Excerpt]] = {}
    for excerpt in report.excerpts:
        by_file.setdefault(excerpt.file, []).append(excerpt)

    def rows(finding: Finding) -> list[_Row]:
        place = finding.location
        if place is None or place.line is None:
            return []
        near = [
            e for e in by_file.get(place.file, ()) if 0 <= place.line - e.first_line < len(e.lines)
        ]
        if not near:
            return []
        best = min(near, key=lambda e: abs(2 * (place.line or 0) - 2 * e.first_line - len(e.lines)))
        return [
            _Row(number, _words.clean(text), number == place.line)
            for number, text in enumerate(best.lines, best.first_line)
        ]

    return rows
