"""The desk answers what people really asked, and is silent about logs in which nothing is wrong."""

from collections import Counter
from pathlib import Path

import pytest

from tests.benchmarks.bench_desk import Verdict, judge, questions
from tpudiag.known_errors.search import match

LEAST_RIGHT = 0.95
INNOCENT = Path(__file__).parents[1] / "data" / "innocent_logs.txt"


@pytest.mark.slow
def test_most_questions_of_the_set_are_answered_rightly_and_none_wrongly() -> None:
    verdicts = [(each.source, judge(each)) for each in questions("tune")]
    assert not [source for source, verdict in verdicts if verdict is Verdict.WRONG]
    counts = Counter(verdict for _, verdict in verdicts)
    assert counts[Verdict.RIGHT] >= LEAST_RIGHT * counts.total()


def test_sets_share_no_thread() -> None:
    tune, hold = questions("tune"), questions("hold")
    assert not {each.source for each in tune} & {each.source for each in hold}
    assert len(tune) + len(hold) >= 250


def test_innocent_logs_hold_no_error() -> None:
    logs = INNOCENT.read_text(encoding="utf-8").split("\n---\n")
    assert len(logs) >= 100
    found = [(each.error.id, each.excerpt) for log in logs for each in match(log)]
    assert not [each for each in found if not each[0].startswith("N")]
    whole = match("\n".join(logs))
    assert not [each.error.id for each in whole if each.error.level == "error"]
