"""JUnit XML: what CI servers count and show."""

from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from tests import made
from tpudiag.catalogue import renderer
from tpudiag.model import Report, Verdict


def suites(report: Report) -> ElementTree.Element:
    return ElementTree.fromstring(renderer("junit")(report).encode())


def test_counts_are_those_of_the_cases(specimen: Report) -> None:
    root = suites(specimen)
    (suite,) = root
    cases = suite.findall("testcase")
    for holder in (root, suite):
        assert int(holder.attrib["tests"]) == len(cases) == len(specimen.outcomes)
        for attribute, name in (
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            assert int(holder.attrib[attribute]) == len(suite.findall(f"testcase/{name}"))


def test_a_verdict_is_what_ci_makes_of_it(specimens: dict[str, Report]) -> None:
    outcomes = (*specimens["each-severity"].outcomes, *specimens["broken"].outcomes)
    (suite,) = suites(replace(specimens["empty"], outcomes=outcomes))
    kinds = {
        Verdict.PASSED: "system-out",
        Verdict.FAILED: "failure",
        Verdict.SKIPPED: "skipped",
        Verdict.BROKEN: "error",
    }
    for outcome, case in zip(outcomes, suite.findall("testcase"), strict=True):
        assert case.attrib["name"] == f"{outcome.id} {outcome.name}"
        assert [child.tag for child in case] == [kinds[outcome.verdict]]


def test_a_failure_says_where_what_and_how_to_mend_it(specimens: dict[str, Report]) -> None:
    (suite,) = suites(specimens["each-severity"])
    (case,) = [c for c in suite.findall("testcase") if c.attrib["name"].startswith("TPU201")]
    assert case.attrib["file"] == "train.py" and case.attrib["line"] == "41"
    failure = case[0]
    assert failure.attrib["type"] == "error"
    assert failure.attrib["message"].startswith("The step waits for input 38.1 %")
    for said in ("train.py:41", "Costs 12.3 ms a step", "limit 20 %", "dataset.prefetch("):
        assert said in (failure.text or "")
    (two,) = [c for c in suite.findall("testcase") if c.attrib["name"].startswith("TPU501")]
    assert two[0].attrib["message"].endswith("(and 1 more)")


def test_a_skipped_case_says_how_to_measure_it(specimens: dict[str, Report]) -> None:
    (suite,) = suites(specimens["all-skipped"])
    said = [case[0].attrib["message"] for case in suite.findall("testcase")]
    assert said[2] == "there is one host. To measure it: profile at least 3 hosts."


def test_no_time_is_told_that_was_not_measured(specimens: dict[str, Report]) -> None:
    assert "time=" not in renderer("junit")(specimens["each-severity"]).replace("timestamp=", "")


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_is_xml(text: str) -> None:
    from tpudiag.model import Finding, Location, Subject

    finding = Finding(text, text, location=Location(text, 1))
    outcome = made.outcome(text, Verdict.FAILED, finding, name=text)
    suites(made.report(outcome, subject=Subject("job", text)))
