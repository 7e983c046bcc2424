"""SARIF: valid against its schema, and shown by code hosts on the line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator, FormatChecker

from tests import made
from tpudiag.catalogue import renderer
from tpudiag.model import Finding, Location, Report, Severity, Subject, Verdict
from tpudiag.report_figures import Excerpt

SCHEMA = Path(__file__).parents[1] / "data" / "sarif-2.1.0-rtm.5.json"
VALIDATOR = Draft4Validator(
    json.loads(SCHEMA.read_text(encoding="utf-8")), format_checker=FormatChecker()
)


def rendered(report: Report) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(renderer("sarif")(report))
    return document


def run_of(report: Report) -> dict[str, Any]:
    (run,) = rendered(report)["runs"]
    return dict(run)


def faults(document: dict[str, Any]) -> list[str]:
    return [fault.message for fault in VALIDATOR.iter_errors(document)]  # pyright: ignore


def at(*places: Location | None) -> Report:
    found = tuple(Finding("m", "", location=place) for place in places)
    outcome = made.outcome("TPU201", Verdict.FAILED, *found)
    return made.report(outcome)


def test_every_report_is_valid(specimen: Report) -> None:
    assert faults(rendered(specimen)) == []


def test_the_schema_would_see_a_fault(specimens: dict[str, Report]) -> None:
    document = rendered(specimens["each-severity"])
    document["runs"][0]["results"][0]["level"] = "dreadful"
    assert len(faults(document)) == 1


names = st.text(st.characters(exclude_categories=[]), max_size=30)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(names, st.none() | st.integers(-1, 10**6), names)
def test_any_place_is_valid(file: str, line: int | None, subject: str) -> None:
    report = replace(at(Location(file, line)), subject=Subject("profile", subject))
    assert faults(rendered(report)) == []


def test_the_level_of_a_rule_is_the_checks_own() -> None:
    """A warning of TPU201, whose check is an error by default."""
    milder = replace(at(None).outcomes[0], severity=Severity.WARNING)
    run = run_of(replace(at(None), outcomes=(milder,)))
    assert run["tool"]["driver"]["rules"][0]["defaultConfiguration"] == {"level": "error"}
    assert run["results"][0]["level"] == "warning"


def test_every_result_has_a_file() -> None:
    places = [
        Location("src/a b#1.py", 3),
        Location("/home/me/train.py", 2),
        Location("odd:name.py"),
        None,
    ]
    uris = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in run_of(at(*places))["results"]
    ]
    assert uris == ["src/a%20b%231.py", "file:///home/me/train.py", "odd%3Aname.py", "train.py"]


def test_the_snippet_comes_from_the_excerpt_that_holds_the_line() -> None:
    report = replace(
        at(Location("train.py", 90)),
        excerpts=(Excerpt("train.py", 1, ("a", "b")), Excerpt("train.py", 88, ("x", "y", "z"))),
    )
    (result,) = run_of(report)["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 90, "snippet": {"text": "z"}}
