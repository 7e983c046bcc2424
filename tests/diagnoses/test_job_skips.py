"""What a skip says once the job was rehearsed, and where it crashed."""

from __future__ import annotations

import pytest

from tpudiag.diagnoses.job_skips import after_rehearsal
from tpudiag.model import Location, Outcome, Severity, Verdict
from tpudiag.signals import JobEnd

ASKS = Outcome(
    "TPU101", "retracing", Verdict.SKIPPED, Severity.WARNING,
    "a training step was not seen", "rehearse the job: `tpudiag check train.py --for v5e-8`",
)  # fmt: skip
CRASH = JobEnd("exception", "ValueError: x", Location("train.py", 12))


def said(outcome: Outcome, end: JobEnd | None) -> Outcome:
    (only,) = after_rehearsal((outcome,), end)
    return only


def test_after_a_crash_the_reason_is_the_crash() -> None:
    outcome = said(ASKS, CRASH)
    assert outcome.reason == "the job crashed at train.py:12 before: a training step was not seen"
    assert outcome.how_to_measure == "mend that first, then run this again"


@pytest.mark.parametrize("end", [None, JobEnd("finished"), JobEnd("exit", exit_code=0)])
def test_a_rehearsal_that_ended_well_is_not_asked_for_again(end: JobEnd | None) -> None:
    outcome = said(ASKS, end)
    assert (outcome.reason, outcome.how_to_measure) == ("a training step was not seen", None)


def test_other_outcomes_stay() -> None:
    passed = Outcome("TPU101", "retracing", Verdict.PASSED, Severity.WARNING)
    other = Outcome("TPU106", "x", Verdict.SKIPPED, Severity.INFO, "why", "profile some steps")
    assert said(passed, CRASH) is passed
    assert said(other, CRASH) is other
