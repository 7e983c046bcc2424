"""Patterns are searched for by their rarest words."""

import re

import pytest

from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.literals import anchor
from tpudiag.known_errors.plain_text import plain, squeezed
from tpudiag.known_errors.probes import Probe, candidates, probes
from tpudiag.known_errors.search import match


def test_a_word_of_every_log_is_no_anchor_where_a_rarer_one_is_at_hand() -> None:
    assert anchor("tensorflow.{0,9}rarer") == "tensorflow"
    assert anchor("tensorflow.{0,9}rarest") == "rarest"


def _bare(text: str) -> bytes:
    return re.sub(r"\s", "", text).lower().encode()


def test_what_a_pattern_matches_holds_both_of_its_literals() -> None:
    wide = [each for each in probes() if each.other]
    hits = [
        (each, hit[0])
        for each in wide
        if (hit := each.regex.search(_bare(known_errors()[each.error].example)))
    ]
    assert len(hits) > 20
    assert all(each.anchor in hit and each.other in hit for each, hit in hits)


def test_the_second_literal_of_a_pattern_that_spans_little_is_not_looked_for() -> None:
    assert Probe(0, None, "no such device.{0,900}?grpc").other == b"grpc"
    assert Probe(0, None, "no such device.{0,90}?grpc").other == b""
    assert Probe(0, None, "grpc.{0,90}?no such device").other == b"grpc"


@pytest.mark.slow
def test_a_long_text_has_the_same_answers_as_a_short_one() -> None:
    examples = [error.example for error in known_errors()]
    quiet = "all is well so far\n" * 4096
    for example in examples[::10]:
        short = {(each.error.id, each.count) for each in match(example)}
        assert {(each.error.id, each.count) for each in match(example + "\n" + quiet)} == short


def test_lines_of_healthy_steps_hold_the_anchor_of_one_pattern_at_most() -> None:
    text = (
        b"I1128 13:01:04.267 140 tpu_estimator.py:2402] global_step/sec: 1.94335\n"
        b"INFO:tensorflow:loss = 0.760962, step = 100 (33.612 sec)\n"
        b"2/500 [=>...] - ETA: 49s - loss: 0.7887 - accuracy: 0.0939 - 2s/step\n"
    )
    assert len(candidates(squeezed(plain(text * 100)).lower())) <= 1
