"""The report as SARIF 2.1.0, for code hosts and editors: findings stand on their lines.

A result is a finding. Checks that could not tell, and broken ones, are notifications of the run,
as code hosts would show any result, whatever its kind, as something to mend.
"""

import json
from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote

from tpudiag import explanation
from tpudiag.model import Confidence, Location, Outcome, Report, Severity, Verdict
from tpudiag.source_change import SourceChange
from tpudiag.version import __version__

from ._source import Sources
from ._words import clean, closed, findings, line, sentence, title, told

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RANKS = {Confidence.HIGH: 90.0, Confidence.MEDIUM: 60.0, Confidence.LOW: 20.0}
"""SARIF's priority of a result, from the confidence of the finding."""
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
Json = dict[str, object]


def render(report: Report) -> str:
    """The report as SARIF."""
    places = {outcome.id: index for index, outcome in enumerate(report.outcomes)}
    run: Json = {
        "tool": {
            "driver": {
                "name": "tpudiag",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(report.outcomes[index]) for index in places.values()],
            }
        },
        "invocations": [
            {
                "executionSuccessful": report.partial is None and not report.count(Verdict.BROKEN),
                "toolExecutionNotifications": list(_notifications(report)),
            }
        ],
        # Our columns count characters; without this word they would be taken for units of UTF-16.
        "columnKind": "unicodeCodePoints",
        "results": list(_results(report, {id_: place for place, id_ in enumerate(places)})),
        "properties": {
            "headline": title(report),
            "summary": {verdict.value: report.count(verdict) for verdict in Verdict},
        },
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(outcome: Outcome) -> Json:
    """The check behind an outcome; its help is the check's docstring."""
    known = explanation.by_id().get(outcome.id)
    rule: Json = {
        "id": clean(outcome.id),
        "name": clean(outcome.name),
        "defaultConfiguration": {"level": LEVELS[known.severity if known else outcome.severity]},
        "properties": {"tags": ["tpu"], "verdict": outcome.verdict.value},
    }
    if known is not None:
        rule["shortDescription"] = {"text": known.title}
        rule["fullDescription"] = {"text": line(known.sections[0][1] if known.sections else "")}
        rule["help"] = {"text": known.body, "markdown": known.body}
    return rule


def _results(report: Report, places: dict[str, int]) -> Iterator[Json]:
    sources = Sources(report)
    for outcome in report.outcomes:
        for finding in findings(outcome):
            place = finding.location
            # A region says where, but of a notebook.
            where = clean(str(place)) if place is not None and place.cell is not None else ""
            result: Json = {
                "ruleId": clean(outcome.id),
                "ruleIndex": places[outcome.id],
                "kind": "fail",
                "level": LEVELS[finding.severity or outcome.severity],
                "rank": RANKS[finding.confidence],
                "message": {"text": "\n\n".join(told(finding, where)) or "no message"},
                "locations": [_location(place, report, sources)],
            }
            if finding.change is not None and finding.change.replacements:
                result["fixes"] = [_fix(finding.change)]
            yield result


def _fix(change: SourceChange) -> Json:
    proof = f" ({change.state}: {line(change.proof)})" if change.proof else ""
    return {
        "description": {"text": f"{line(change.title)}{proof}"},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(change.file),
                "replacements": [
                    {
                        "deletedRegion": {
                            "startLine": each.line,
                            "startColumn": each.column,
                            "endLine": each.end_line,
                            "endColumn": each.end_column,
                        },
                        "insertedContent": {"text": each.text},
                    }
                    for each in change.replacements
                ],
            }
        ],
    }


def _location(place: Location | None, report: Report, sources: Sources) -> Json:
    """The line named; where there is none, what was diagnosed, since code hosts ask for a file."""
    if place is None:
        return {"physicalLocation": {"artifactLocation": _artifact(report.subject.name)}}
    physical: Json = {"artifactLocation": _artifact(place.file)}
    if place.cell is not None:
        # a region would count in the file's JSON, not in the cell
        name = {"name": f"cell {place.cell}", "fullyQualifiedName": clean(str(place))}
        return {"physicalLocation": physical, "logicalLocations": [name]}
    if place.line is not None and place.line > 0:
        region: Json = {"startLine": place.line}
        text = sources.line(place)
        physical["region"] = region if text is None else region | {"snippet": {"text": text}}
    return {"physicalLocation": physical}


def _artifact(name: str) -> Json:
    """A file; a relative one is relative to the repository's top."""
    path = quote(clean(name).replace("\n", " "), safe="/")
    return {"uri": f"file://{path}"} if path.startswith("/") else {"uri": path or "unnamed"}


def _notifications(report: Report) -> Iterator[Json]:
    if report.partial is not None:
        yield _notification("error", f"Not the whole report: {closed(report.partial)}")
    for outcome in report.outcomes:
        if outcome.verdict is Verdict.BROKEN:
            yield _notification(
                "error", f"The check is broken: {line(outcome.cause or '')}", outcome
            )
        elif outcome.verdict is Verdict.SKIPPED:
            how = outcome.how_to_measure
            measure = f" To measure it: {closed(how)}" if how else ""
            text = f"Skipped, not known to be healthy. {sentence(outcome.cause or '')}{measure}"
            yield _notification("note", text, outcome)


def _notification(
    level: Literal["error", "note"], text: str, outcome: Outcome | None = None
) -> Json:
    made: Json = {"level": level, "message": {"text": text}}
    if outcome is not None:
        made["associatedRule"] = {"id": clean(outcome.id)}
    return made
