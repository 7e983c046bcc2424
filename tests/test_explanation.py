"""A check's explanation: the same from its text as from the check itself, and complete."""

import pytest

from tpudiag import explanation
from tpudiag.catalogue import checks
from tpudiag.explanation import HEADINGS, Explanation


def test_from_the_text_as_from_the_check() -> None:
    assert explanation.explanations() == tuple(map(explanation.of, checks()))


@pytest.mark.parametrize("each", explanation.explanations(), ids=lambda each: each.id)
def test_every_explanation_has_all_its_headings(each: Explanation) -> None:
    assert tuple(heading for heading, _ in each.sections) == HEADINGS
    assert all(text for _, text in each.sections)
    assert each.title.endswith(".")


def test_a_check_is_found_by_id_and_by_name() -> None:
    for each in explanation.explanations():
        assert explanation.find(each.id.lower()) == explanation.find(each.name) == each
    assert explanation.find("TPU999") is None
    assert explanation.find("_need") is None
