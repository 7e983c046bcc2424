"""Patterns are searched for by their rarest words, taken apart where these are common ones."""

from __future__ import annotations

import re

import pytest

from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.literals import anchor, squeezed_pattern, telling_bytes
from tpudiag.known_errors.plain_text import squeezed
from tpudiag.known_errors.probes import (
    LARGE_BYTES,
    MOST_ALTERNATIVES,
    SMALL_BYTES,
    Form,
    alternatives,
    candidates,
    compiled,
    probes,
)
from tpudiag.known_errors.search import match


@pytest.mark.parametrize(
    ("pattern", "forms"),
    [
        ("steps were left", ("steps were left",)),
        (
            "(?:Must specify|Can not give) (?:max_)?steps",
            ("Must specify (?:max_)?steps", "Can not give (?:max_)?steps"),
        ),
        ("(?:a|b)+ steps", ("(?:a|b)+ steps",)),
        (r"steps \(?:no|choice\)", (r"steps \(?:no|choice\)",)),
        ("x(?P<all>(?:one|two) steps)", ("x(?P<all>(?:one|two) steps)",)),
    ],
)
def test_a_pattern_of_a_common_word_is_taken_apart(pattern: str, forms: tuple[str, ...]) -> None:
    assert alternatives(pattern) == forms


def test_the_forms_of_each_pattern_match_what_it_matches() -> None:
    for error in known_errors():
        text = re.sub(rb"\s+", b"", error.example.encode()).lower()
        for pattern in error.patterns:
            forms = alternatives(pattern)
            assert 1 <= len(forms) <= MOST_ALTERNATIVES
            if len(forms) > 1:
                apart = any(compiled(form).search(text) for form in forms)
                assert apart == bool(compiled(pattern).search(text)), pattern
                weakest = min(telling_bytes(anchor(squeezed_pattern(form))) for form in forms)
                assert weakest > telling_bytes(anchor(squeezed_pattern(pattern)))


def test_a_word_of_every_log_is_no_anchor_where_a_rarer_one_is_at_hand() -> None:
    assert anchor("tensorflow.{0,9}rarer") == "tensorflow"
    assert anchor("tensorflow.{0,9}rarest") == "rarest"


def _bare(text: str) -> bytes:
    return re.sub(r"\s", "", text).lower().encode()


def test_what_a_pattern_matches_holds_both_of_its_literals() -> None:
    wide = [form for each in probes() if (form := Form(each, each.pattern)).other]
    hits = [
        (form, hit[0])
        for form in wide
        if (hit := form.regex.search(_bare(known_errors()[form.probe.error].example)))
    ]
    assert len(hits) > 20
    assert all(form.anchor in hit and form.other in hit for form, hit in hits)


def test_the_second_literal_of_a_pattern_that_spans_little_is_not_looked_for() -> None:
    probe = probes()[0]
    assert Form(probe, "no such device.{0,900}?grpc").other == b"grpc"
    assert Form(probe, "no such device.{0,90}?grpc").other == b""
    assert Form(probe, "grpc.{0,90}?no such device").other == b"grpc"


@pytest.mark.slow
def test_a_long_text_has_the_same_answers_as_a_short_one() -> None:
    examples = [error.example for error in known_errors()]
    quiet = "all is well so far\n" * (LARGE_BYTES // 8)
    for example in examples[::10]:
        short = {(each.error.id, each.count) for each in match(example)}
        assert {(each.error.id, each.count) for each in match(example + "\n" + quiet)} == short


def test_small_texts_and_larger_ones_are_searched_for_the_same_places() -> None:
    words = b" ".join(error.example.encode() for error in known_errors()[::60])
    small = squeezed(words).lower()[:SMALL_BYTES]
    in_small = candidates(small)
    in_larger = candidates(small + b"-" * SMALL_BYTES)
    assert len(in_small) > 50
    assert in_small.keys() <= in_larger.keys()
    for probe in in_larger.keys() - in_small.keys():
        assert not compiled(probe.pattern).search(small), probe.pattern
    for probe, forms in in_small.items():
        assert sorted(places for _, places in forms) == sorted(
            places for _, places in in_larger[probe]
        )
