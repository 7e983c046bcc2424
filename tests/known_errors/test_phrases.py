"""A few words of an error, and the errors they stand in."""

from __future__ import annotations

from tpudiag.known_errors.phrases import with_phrase
from tpudiag.known_errors.reader import nothing_in


def test_a_phrase_leads_to_the_errors_that_hold_it() -> None:
    assert "E28" in [error.id for error in with_phrase("socket  Closed")]
    assert "E28" in nothing_in("the text", "Socket closed")


def test_a_part_of_a_word_and_a_whole_sentence_are_no_phrase() -> None:
    assert with_phrase("ocket close") == ()
    assert with_phrase("") == ()
    assert with_phrase("the socket closed while the worker was being asked for it") == ()
