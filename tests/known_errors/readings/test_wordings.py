"""Wordings: each is told by its own example, as a part of the known error it belongs to."""

from __future__ import annotations

import re

from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.literals import squeezed_pattern
from tpudiag.known_errors.model import DEFAULTS
from tpudiag.known_errors.readings.wordings import TABLES, read, wordings_of
from tpudiag.known_errors.search import match

IDS = {error.id for error in known_errors()}
ALL = [(idents.split(), each) for table in TABLES for idents in table for each in table[idents]]


def test_wordings_belong_to_known_errors() -> None:
    assert {ident for idents, _ in ALL for ident in idents} <= IDS
    patterns = [each.pattern for _, each in ALL]
    assert len(set(patterns)) == len(patterns)


def test_example_is_answered_by_its_wording() -> None:
    for idents, wording in ALL:
        best = match(wording.example)[0]
        assert best.error.id in idents, (best.error.id, wording.example)
        assert best.reading is not None and best.reading.whole, wording.example
        cause = re.sub(r"<<\w+>>", ".+", re.escape(wording.cause))
        assert re.fullmatch(cause, best.reading.cause), best.reading.cause


def test_blanks_are_filled_by_the_wording_or_by_the_job() -> None:
    for _, wording in ALL:
        names = re.compile(squeezed_pattern(wording.pattern)).groupindex.keys()
        blanks = set(re.findall(r"<<(\w+)>>", wording.cause + wording.fix))
        assert blanks <= names | DEFAULTS.keys(), wording.pattern
        assert wording.cause.endswith("."), wording.cause
        assert not re.search(r"https?://|pypi|storage\.googleapis", wording.cause + wording.fix)
        assert not re.search(r"[*+](?![^\[]*\])", re.sub(r"\\.", "x", wording.pattern))


def test_text_without_a_wording_is_left_to_its_family() -> None:
    assert read("E139", "somethingelse") is None
    assert wordings_of("E0") == ()
