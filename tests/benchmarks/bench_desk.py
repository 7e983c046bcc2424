"""How the error desk answers the errors from real questions.

    uv run python -m tests.benchmarks.bench_desk            # the set `tune`
    uv run python -m tests.benchmarks.bench_desk --set hold
    uv run python -m tests.benchmarks.bench_desk -v         # what is not right, and why

An answer is right where its family is one of those expected and its cause and fix hold the
words that the answer must hold; partly where the right family stands behind another answer or is
one of several causes that are named, where it says that the line only follows from an earlier one,
where words are missing, or where its own words alone tell it; unanswered where it is no more than
a remark about a line that is no error; wrong where an error is explained as another one.
"""

import argparse
import json
import re
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tpudiag.known_errors.model import Kind, Match
from tpudiag.known_errors.reader import in_text
from tpudiag.known_errors.unknown import UnknownError

QUESTIONS = Path(__file__).parents[1] / "data" / "questions.json"


class Verdict(Enum):
    """How an answer does."""

    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "wrong"
    UNANSWERED = "unanswered"


@dataclass(frozen=True)
class Question:
    """An error, and what an answer must be."""

    source: str
    text: str
    families: tuple[str, ...]
    words: tuple[str, ...]


def questions(name: str, path: Path = QUESTIONS) -> tuple[Question, ...]:
    """The questions of a set: tune or hold."""
    return tuple(
        Question(each["source"], each["text"], tuple(each["families"]), tuple(each["words"]))
        for each in json.loads(path.read_text(encoding="utf-8"))[name]
    )


def judge(question: Question) -> Verdict:
    """How the desk answers a question; an empty list of families wants no answer."""
    told = in_text(question.text)
    answers = [each for each in told if isinstance(each, Match)]
    unknown = next(iter(told), None)
    if isinstance(unknown, UnknownError):
        return Verdict.PARTLY if unknown.cause and unknown.fix else Verdict.UNANSWERED
    if not answers:
        return Verdict.UNANSWERED if question.families else Verdict.RIGHT
    first = answers[0]
    if first.error.family in question.families:
        said = _said(first)
        whole = all(re.search(word, said, re.IGNORECASE) for word in question.words)
        return Verdict.RIGHT if whole else Verdict.PARTLY
    named = {each.error.family for each in answers[1:]}
    named |= {family for each in first.rivals for family in each.rival.families}
    if named & set(question.families) or first.error.kind is Kind.CONSEQUENCE:
        return Verdict.PARTLY
    return Verdict.UNANSWERED if first.error.level == "info" else Verdict.WRONG


def _said(answer: Match) -> str:
    """All that an answer says."""
    rivals = " ".join(f"{each.rival.cause} {each.rival.fix}" for each in answer.rivals)
    return f"{answer.message} {rivals} {answer.fix} {answer.error.useless}"


def main() -> None:
    """Prints the figures of a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="tune", choices=("tune", "hold"))
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    asked = questions(options.set)
    verdicts = {question: judge(question) for question in asked}
    if options.verbose:
        for question, verdict in verdicts.items():
            if verdict is not Verdict.RIGHT:
                told = [each for each in in_text(question.text) if isinstance(each, Match)]
                ids = [(each.error.id, each.secondary) for each in told]
                print(f"{verdict.value}: {question.source} wants {question.families}, got {ids}")
    counts = Counter(verdicts.values())
    print(f"{options.set}: {len(asked)} questions")
    for verdict in Verdict:
        print(f"  {verdict.value:<11} {counts[verdict]:4}  {counts[verdict] / len(asked):.3f}")
    found = (in_text(question.text)[:1] for question in asked)
    undecided = sum(isinstance(each, Match) and each.undecided for first in found for each in first)
    print(f"  of these told as one of several causes: {undecided}")


if __name__ == "__main__":
    main()
