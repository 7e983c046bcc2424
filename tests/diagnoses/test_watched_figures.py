"""What checks say of several workers: the worst stands for all."""

import pytest

from tests import made
from tpudiag.diagnoses.watched_figures import merged
from tpudiag.model import Evidence, Finding, Outcome, Verdict


def outcome(verdict: Verdict) -> Outcome:
    findings = (Finding("slow", "mend it"),) if verdict is Verdict.FAILED else ()
    return made.outcome(
        "TPU603",
        verdict,
        *findings,
        name="throughput-drop",
        reason="too few steps" if verdict is Verdict.SKIPPED else None,
        evidence=(Evidence("rate", 1.0),) if verdict is Verdict.PASSED else (),
    )


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        ((Verdict.PASSED, Verdict.PASSED), Verdict.PASSED),
        ((Verdict.PASSED, Verdict.SKIPPED), Verdict.SKIPPED),
        ((Verdict.SKIPPED, Verdict.FAILED), Verdict.FAILED),
        ((Verdict.BROKEN, Verdict.PASSED), Verdict.BROKEN),
    ],
)
def test_passed_only_where_all_passed(verdicts: tuple[Verdict, Verdict], together: Verdict) -> None:
    (one,) = merged([(f"worker {n}", False, (outcome(v),)) for n, v in enumerate(verdicts)])
    assert one.verdict is together


def test_whose_finding_it_is_is_said() -> None:
    passed, failed = outcome(Verdict.PASSED), outcome(Verdict.FAILED)
    (one,) = merged([("worker 0", False, (passed,)), ("worker 1", False, (failed,))])
    assert [finding.message for finding in one.findings] == ["worker 1: slow"]


def test_a_short_run_that_ended_spoils_nothing() -> None:
    passed, skipped = outcome(Verdict.PASSED), outcome(Verdict.SKIPPED)
    (one,) = merged([("train", False, (passed,)), ("eval", True, (skipped,))])
    assert one.verdict is Verdict.PASSED
    (one,) = merged([("a", True, (outcome(Verdict.SKIPPED),))] * 2)
    assert (one.verdict, one.reason) == (Verdict.SKIPPED, "too few steps")
