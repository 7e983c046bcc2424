"""The desk answers what people really asked, and is silent about logs in which nothing is wrong."""

from __future__ import annotations

from collections import Counter

from tests.benchmarks.bench_desk import Verdict, judge, questions

LEAST_RIGHT = 0.95


def test_no_question_of_the_set_is_answered_wrongly() -> None:
    wrong = [each.source for each in questions("tune") if judge(each) is Verdict.WRONG]
    assert not wrong


def test_most_questions_of_the_set_are_answered_rightly() -> None:
    counts = Counter(judge(question) for question in questions("tune"))
    assert counts[Verdict.RIGHT] >= LEAST_RIGHT * counts.total()


def test_sets_share_no_thread() -> None:
    tune, hold = questions("tune"), questions("hold")
    assert not {each.source for each in tune} & {each.source for each in hold}
    assert len(tune) + len(hold) >= 250
