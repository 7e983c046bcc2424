"""The report as JUnit XML, for CI: a test case for each check."""

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tpudiag.model import Outcome, Report, Verdict

from ._words import closed, findings, line, proofs, title, told

# clean() has made control characters visible; XML takes neither of these two.
_NO_XML = re.compile("[\ufffe\uffff]")


def render(report: Report) -> str:
    """The report as JUnit XML."""
    counts = {
        "tests": len(report.outcomes),
        "failures": report.count(Verdict.FAILED),
        "errors": report.count(Verdict.BROKEN),
        "skipped": report.count(Verdict.SKIPPED),
    }
    figures = {name: str(count) for name, count in counts.items()}
    suites = Element("testsuites", {"name": "tpudiag", **figures})
    name = _text(line(report.subject.name))
    suite = SubElement(suites, "testsuite", {"name": name, "timestamp": report.started, **figures})
    properties = SubElement(suite, "properties")
    _property(properties, "headline", title(report))
    if report.target is not None:
        _property(properties, "target", report.target.name)
    if report.partial is not None:
        _property(properties, "partial", report.partial)
    if report.crash is not None:
        _property(properties, "traceback", report.crash.traceback)
    for measured, figure in report.measurements.items():
        _property(properties, measured, f"{figure.value} {figure.unit}".strip())
    for outcome in report.outcomes:
        _case(suite, outcome)
    indent(suites)
    text = tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _property(parent: Element, name: str, value: str) -> None:
    SubElement(parent, "property", {"name": _text(line(name)), "value": _text(line(value))})


def _case(suite: Element, outcome: Outcome) -> None:
    name = _text(f"{line(outcome.id)} {line(outcome.name)}")
    # By family (TPU1, TPU2), as CI groups cases by their class.
    attributes = {"classname": f"tpudiag.{_text(line(outcome.id))[:4]}", "name": name}
    place = next((f.location for f in findings(outcome) if f.location is not None), None)
    if place is not None:
        attributes["file"] = _text(line(place.file))
        if place.line is not None:
            attributes["line"] = str(place.line)
    case = SubElement(suite, "testcase", attributes)
    if outcome.verdict is Verdict.FAILED:
        failures = findings(outcome)
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        failure = SubElement(
            case,
            "failure",
            {
                "message": _text(line(failures[0].message)) + more,
                "type": outcome.severity.value,
            },
        )
        said = ["\n".join(told(f, line(str(f.location or "")))) for f in failures]
        failure.text = _text("\n\n".join(said))
    elif outcome.verdict is Verdict.BROKEN:
        SubElement(case, "error", {"message": _text(line(outcome.cause or "")), "type": "broken"})
    elif outcome.verdict is Verdict.SKIPPED:
        how = outcome.how_to_measure
        skip = line(outcome.cause or "") + (f". To measure it: {closed(how)}" if how else "")
        SubElement(case, "skipped", {"message": _text(skip)})
    else:
        SubElement(case, "system-out").text = _text(proofs(outcome.evidence))


def _text(text: str) -> str:
    """What XML 1.0 may hold."""
    return _NO_XML.sub(lambda match: ascii(match[0])[1:-1], text)
