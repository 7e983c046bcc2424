"""JUnit XML: what CI servers count and show."""

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


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_is_xml(text: str) -> None:
    from tpudiag.model import Finding, Location, Subject

    finding = Finding(text, text, location=Location(text, 1))
    outcome = made.outcome(text, Verdict.FAILED, finding, name=text)
    suites(made.report(outcome, subject=Subject("job", text)))
