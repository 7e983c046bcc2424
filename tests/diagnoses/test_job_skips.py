"""What a skip says once the job was rehearsed, and where it crashed."""

import pytest

from tests import made
from tpudiag.diagnoses.job_skips import after_rehearsal
from tpudiag.model import Location, Outcome, Severity, Verdict, skipped_reason
from tpudiag.signals import JobEnd

REHEARSE = "rehearse the job: `tpudiag check train.py --for v5e-8`"


def outcome(verdict: Verdict, cause: str | None, how: str | None) -> Outcome:
    return made.outcome(
        "TPU101",
        verdict,
        name="retracing",
        severity=Severity.WARNING,
        reason=skipped_reason(cause, how),
        how_to_measure=how,
    )


ASKS = outcome(Verdict.SKIPPED, "a training step was not seen", REHEARSE)
CRASH = JobEnd(how="exception", error="ValueError: x", location=Location("train.py", 12))


def said(before: Outcome, end: JobEnd | None) -> Outcome:
    (only,) = after_rehearsal((before,), end)
    return only


def test_after_a_crash_the_reason_is_the_crash() -> None:
    after = said(ASKS, CRASH)
    assert after.cause == "the job crashed at train.py:12 before: a training step was not seen"
    assert after.how_to_measure == "mend that first, then run this again"
    assert after.reason == f"{after.cause}. To measure it: {after.how_to_measure}."


def test_a_job_that_took_the_memory_did_not_run_out_of_time() -> None:
    end = JobEnd(how="timeout", error="this machine had 396 MiB of memory left: the job was ended")
    assert (said(ASKS, end).cause or "").startswith("the job was ended for want of memory before")


@pytest.mark.parametrize("end", [None, JobEnd(how="finished"), JobEnd(how="exit", exit_code=0)])
def test_a_rehearsal_that_ended_well_is_not_asked_for_again(end: JobEnd | None) -> None:
    after = said(ASKS, end)
    assert (after.reason, after.how_to_measure) == ("a training step was not seen", None)


def test_other_outcomes_stay() -> None:
    passed = outcome(Verdict.PASSED, None, None)
    other = outcome(Verdict.SKIPPED, "why", "profile some steps")
    assert said(passed, CRASH) is passed
    assert said(other, CRASH) is other
