"""The HTML report as a file: whole, small, closed to the network, and the user's text as text."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any

import pytest

from tests import made
from tpudiag.catalogue import renderer
from tpudiag.model import Location, Report
from tpudiag.report_figures import Measurement, PlanRow

VOID = {"meta", "input", "br", "hr", "link", "img"}
LARGEST_BYTES = 6_000_000


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list["Element | str"])

    def text(self) -> str:
        return "".join(c if isinstance(c, str) else c.text() for c in self.children)

    def all(self, name: str, **attributes: str) -> list[Element]:
        found: list[Element] = []
        for child in (c for c in self.children if isinstance(c, Element)):
            if child.name == name and attributes.items() <= child.attributes.items():
                found.append(child)
            found += child.all(name, **attributes)
        return found


class Tree(HTMLParser):
    """The elements of a document; a tag that closes nothing is a fault."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("", {})
        self.feed(text)
        assert self.at is self.root, f"<{self.at.name}> is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), self.at)
        self.at.children.append(element)
        if tag not in VOID:
            self.at = element

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.at.name, f"</{tag}> within <{self.at.name}>"
        assert self.at.parent is not None
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.children.append(data)


def tree(report: Report) -> Element:
    return Tree(renderer("html")(report)).root


def test_every_report_is_one_well_formed_file_below_its_limit(specimen: Report) -> None:
    text = renderer("html")(specimen)
    assert len(text.encode()) < LARGEST_BYTES
    page = Tree(text).root
    ids = re.findall(r'\bid="([^"]*)"', re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))
    assert len(ids) == len(set(ids))
    named = {
        name
        for element in (*page.all("section"), *page.all("div"), *page.all("article"))
        for name in (element.attributes.get("aria-labelledby") or "").split()
    }
    assert named <= set(ids)


def test_nothing_is_loaded_from_anywhere(specimen: Report) -> None:
    page = tree(specimen)
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert "default-src 'none'" in (policy.attributes["content"] or "")
    for name in ("link", "img", "iframe", "object", "embed", "base", "form"):
        assert all(name == "form" and "action" not in e.attributes for e in page.all(name))
    assert not any("src" in element.attributes for element in page.all("script"))
    assert all((a.attributes["href"] or "").startswith("#") for a in page.all("a"))


def test_the_policy_lets_exactly_our_two_scripts_run(specimens: dict[str, Report]) -> None:
    page = tree(specimens["plots"])
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    allowed = re.search(r"script-src ([^;]*);", policy.attributes["content"] or "")
    scripts = [s for s in page.all("script") if "type" not in s.attributes]
    (packed,) = page.all("script", id="library")
    library = gzip.decompress(base64.b64decode(packed.text()))
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"
        for text in (scripts[0].text().encode(), library)
    ]
    assert len(scripts) == 1
    assert allowed and allowed[1].split() == hashes
    assert b"plotly.js" in library[:200]


def test_a_report_without_figures_carries_no_library(specimens: dict[str, Report]) -> None:
    assert len(renderer("html")(specimens["healthy"])) < 100_000


def test_the_users_markup_stays_text(specimens: dict[str, Report]) -> None:
    hostile = specimens["hostile"]
    odd = made.series("step_part", (2.0,), "</script><b>x</b>", source="<i>s</i>")
    page = tree(replace(hostile, series=(odd, replace(odd, kind="replica_step"))))
    own = [s.attributes.get("id") for s in page.all("script")]
    assert own == ["data", "library", None]
    assert not page.all("b") and not page.all("i")
    assert "<script>alert(1)</script>" in page.all("h1")[0].text()
    assert not [e for e in page.all("a") if "http" in (e.attributes["href"] or "")]
    data: dict[str, Any] = json.loads(page.all("script", id="data")[0].text())
    assert data["series"][0]["name"] == "</script><b>x</b>"


def test_a_share_is_of_a_step_time_that_is_known(specimens: dict[str, Report]) -> None:
    for measured in ({}, {"step_time_ms": Measurement(float("nan"), "ms", "job")}):
        (first,) = tree(replace(specimens["each-severity"], measurements=measured)).all("ol")
        assert "12.3 ms a step" in first.text() and "of the step" not in first.text()


def test_a_line_outside_the_excerpts_shows_its_place_alone(specimens: dict[str, Report]) -> None:
    report, place = specimens["plots"], Location("train.py", 99)
    outcomes = tuple(
        replace(o, findings=tuple(replace(f, location=place) for f in o.findings))
        for o in report.outcomes
    )
    page = tree(replace(report, outcomes=outcomes))
    assert "train.py:99" in page.text()
    assert not [f for f in page.all("figure") if f.attributes.get("class") == "source"]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_a_gap(specimens: dict[str, Report], value: float) -> None:
    series = made.series("step_time", (value, 3.0), limit=value)
    page = tree(replace(specimens["empty"], series=(series,)))
    data = json.loads(page.all("script", id="data")[0].text())
    assert data["series"][0]["y"] == [None, 3.0]
    assert "1 step: median 3 ms" in page.text()


def test_a_plan_is_drawn_where_it_is_known_whether_it_fits(specimens: dict[str, Report]) -> None:
    unknown = PlanRow(target="v4-8", batch_per_replica=8, fits=None)
    known = PlanRow(target="v4-8", batch_per_replica=4, fits=True)
    page = tree(replace(specimens["empty"], plan=(unknown, known)))
    (row,) = json.loads(page.all("script", id="data")[0].text())["plan"]
    assert (row["batch_per_replica"], row["examples_per_second_per_chip"]) == (4, None)
