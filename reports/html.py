"""The report as one HTML file: with plots, for any browser, and without any network."""

from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from tpudiag import explanation
from tpudiag.model import Finding, Report, Severity, Verdict
from tpudiag.report_figures import Table
from tpudiag.version import __version__
from tpudiag.xprof_pages import page

from . import _plotting, _words
from ._source import Sources

FIRST = 3
"""Findings named at the top."""
LOWEST_PX, HIGHEST_PX, ROW_PX = 240, 640, 22
"""Heights of a notebook's cell: the least, the most, and per line."""
# Scripts are named by their hashes; styles cannot be, for Plotly writes its own as it draws.
_POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def cell(report: Report) -> str:
    """The report as the output of a notebook's cell: a frame, so that no style leaks either way.

    Without plots, whose library would be saved with the notebook at each run.
    """
    rows = 4 + 2 * len(report.measurements) + 6 * sum(len(o.findings) for o in report.outcomes)
    height = min(max(LOWEST_PX, rows * ROW_PX), HIGHEST_PX)
    document = escape(render(report, plots=False))
    return (
        # Without allow-same-origin its scripts reach nothing of the notebook around it.
        f'<iframe title="tpudiag report" srcdoc="{document}" sandbox="allow-scripts" '
        f'style="width:100%;height:{height}px;border:1px solid #8885;border-radius:6px" '
        'loading="lazy"></iframe>'
    )


def render(report: Report, plots: bool = True) -> str:
    """The report as HTML."""
    script, library = _file("report.js"), _plotting.library()
    policy = _POLICY.format(f"{_plotting.script_hash(script.encode())} {library.hash}")
    template = _environment().get_template("report.html.j2")
    worst = [(outcome, _words.findings(outcome)[0]) for outcome in _words.failures(report)[:FIRST]]
    return template.render(
        report=report,
        policy=policy,
        style=Markup(_file("report.css")),
        script=Markup(script),
        library=library.packed,
        data=Markup(_plotting.data(report) if plots else "{}"),
        plots=tuple(_plotting.plots(report)) if plots else (),
        version=__version__,
        tiles=tuple(_tiles(report)),
        first=[(outcome, finding, _worth(finding, report)) for outcome, finding in worst],
        writes=_words.writes(report),
        rows=Sources(report).rows,
        numeric=_numeric,
        explained=_explained,
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_file),
        # A name that the template misspells would else be an empty place.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # All functions of _words may stand in the template.
    words: dict[str, Any] = {name: word for name, word in vars(_words).items() if callable(word)}
    words["page"] = page
    environment.globals |= words
    environment.filters.update(
        (name, words[name]) for name in ("line", "clean", "closed", "sentence")
    )
    return environment


def _file(name: str) -> str:
    return files("tpudiag.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _tiles(report: Report) -> Iterator[tuple[str, str, int]]:
    """The counts at the top, also the filter's choices, each with its severity or verdict."""
    severities = [outcome.severity for outcome in _words.failures(report)]
    for severity in reversed(Severity):
        count = severities.count(severity)
        yield severity.value, _words.plural(severity, count), count
    for verdict in (Verdict.BROKEN, Verdict.PASSED, Verdict.SKIPPED):
        yield verdict.value, verdict.value, report.count(verdict)


def _worth(finding: Finding, report: Report) -> str:
    """The cost in time or bytes, with its share of the step; says so where it is not known.

    What seldom happens may cost more a step, on average, than the median step takes: no share.
    """
    cost = _words.cost(finding)
    if not cost:
        return "not measured"
    step = report.measurements.get("step_time_ms")
    ms, whole = finding.cost_ms_per_step, step.value if step else None
    if ms is None or not isinstance(whole, int | float) or not whole >= ms > 0:
        return cost
    return f"{cost} ({ms / whole:.0%} of the step)"


def _numeric(table: Table) -> list[bool]:
    return [
        any(
            isinstance(row[index], int | float) and not isinstance(row[index], bool)
            for row in table.rows
            if index < len(row)
        )
        for index in range(len(table.columns))
    ]


def _explained(id_: str) -> list[tuple[str, Markup]]:
    """Heading and text of each part of a check's explanation; none for a stranger."""
    known = explanation.by_id().get(id_)
    return [(heading, _marked(text)) for heading, text in known.sections] if known else []


@cache
def _marked(text: str) -> Markup:
    """Markdown of a docstring as HTML, without links and images."""
    markdown = MarkdownIt("commonmark", {"html": False}).disable(["image", "link", "autolink"])
    return Markup(markdown.render(text))
