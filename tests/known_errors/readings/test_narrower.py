"""Narrower cases: each is told by its own text, as a part of the known error it belongs to."""

import re

import pytest

from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.literals import squeezed_pattern
from tpudiag.known_errors.model import defaults
from tpudiag.known_errors.readings.narrower import Narrower, called_in, first, is_about_another
from tpudiag.known_errors.search import match

OWNERS: dict[Narrower, list[str]] = {}
for error in known_errors():
    for each in error.narrower:
        OWNERS.setdefault(each, []).append(error.id)


def test_none_is_said_twice() -> None:
    says = [(case.says, case.when) for case in OWNERS]
    assert len(set(says)) == len(says)


@pytest.mark.slow
def test_its_text_is_answered_by_it() -> None:
    for case, owners in OWNERS.items():
        if not case.says:
            continue  # it holds for what is installed
        best = match(case.hit)[0]
        assert best.error.id in owners, (best.error.id, case.hit)
        assert best.reading is not None and best.reading.whole, case.hit
        cause = re.sub(r"<<\w+>>", ".+", re.escape(case.cause))
        assert re.fullmatch(cause, best.reading.cause), best.reading.cause


def test_blanks_are_filled_by_its_words_or_by_the_job() -> None:
    for case in OWNERS:
        groups = re.compile(squeezed_pattern(case.says)).groupindex.keys()
        names = groups | dict(case.when).keys()
        blanks = set(re.findall(r"<<(\w+)>>", case.cause + case.fix))
        assert blanks <= names | defaults().keys(), case.says
        assert case.cause.endswith("."), case.cause
        assert not re.search(r"https?://|pypi|storage\.googleapis", case.cause + case.fix)
        assert not re.search(r"[*+](?![^\[]*\])", re.sub(r"\\.", "x", case.says))


def test_a_text_that_says_none_is_left_to_the_case() -> None:
    (error,) = (each for each in known_errors() if each.id == "E139")
    assert first(error.narrower, {}, "somethingelse") is None


def test_a_case_of_one_function_does_not_hold_for_another_one() -> None:
    hits, told = ("TypeError: batch() got an unexpected argument",), "Dataset.batch takes it since"
    assert is_about_another(hits, told, called_in("map_and_batch() got an unexpected argument"))
    assert not is_about_another(hits, told, called_in("Dataset.batch() got an unexpected argument"))
    assert not is_about_another(hits, "It is of another release", ("map_and_batch",))
