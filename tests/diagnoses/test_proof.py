"""Whether a rehearsal proves changes, from two reports alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests import made
from tpudiag.diagnoses import proof
from tpudiag.diagnoses.changes_of_source import Candidate
from tpudiag.fixes import documents
from tpudiag.fixes.edits import Edit
from tpudiag.model import Evidence, Finding, Location, Outcome, Report, Severity, Verdict
from tpudiag.report_figures import Measurement, StepSamples
from tpudiag.source_change import Effect, SourceChange

TEXT = "import a\nds = ds.map(f)\nds = ds.batch(8)\n"


def finding(line: int, message: str = "map runs serially", cost: float | None = None) -> Finding:
    evidence = (Evidence("traces", 7),) if cost is None else ()
    return Finding(message, "", evidence, Location("train.py", line), cost_ms_per_step=cost)


def failed(id_: str, *findings: Finding) -> Outcome:
    return made.outcome(id_, Verdict.FAILED, *findings, name="x", severity=Severity.WARNING)


def ended(verdict: Verdict) -> Outcome:
    severity, reason = Severity.WARNING, "no steps seen"
    return made.outcome("TPU203", verdict, name="x", severity=severity, reason=reason)


def report(
    *outcomes: Outcome,
    losses: tuple[float, ...] = (1.0, 0.5),
    partial: str | None = None,
    weights: tuple[float, ...] = (3.0, 3.0),
    traces: int = 7,
) -> Report:
    return made.report(
        *outcomes,
        partial=partial,
        measurements={"traces": Measurement(traces, "traces", "job")},
        samples=(StepSamples("loss of a step", "", losses), StepSamples("sums", "", weights)),
    )


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> documents.Script:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TEXT)
    return documents.script("train.py", tmp_path)


def candidate(document: documents.Script, line: int, edit: Edit) -> Candidate:
    change = SourceChange(title="t", file="train.py", effect=Effect.NONE, replacements=(), diff="")
    return Candidate(
        id="TPU203", finding=finding(line), document=document, edits=(edit,), change=change,
        line=line,
    )  # fmt: skip


BEFORE = report(failed("TPU203", finding(2)))
GONE = ended(Verdict.PASSED)


@pytest.fixture
def change(document: documents.Script) -> Candidate:
    return candidate(document, 2, Edit(9, 9, "# new\n"))


def test_a_change_whose_finding_is_gone_is_proven(change: Candidate) -> None:
    judged = proof.judge(BEFORE, report(GONE), [change], [change])
    assert judged.sound
    assert "equal bit for bit" in judged.losses


def test_a_finding_that_moved_down_is_not_gone(change: Candidate) -> None:
    after = report(failed("TPU203", finding(3)))
    judged = proof.judge(BEFORE, after, [change], [change])
    assert judged.dropped == {0: "the finding is still there"}


def test_what_is_not_measured_any_more_proves_nothing(change: Candidate) -> None:
    judged = proof.judge(BEFORE, report(ended(Verdict.SKIPPED)), [change], [change])
    assert "could not be measured" in judged.dropped[0]


def test_a_new_finding_speaks_against_a_change(change: Candidate) -> None:
    after = report(GONE, failed("TPU502", finding(3, "the loss is 8")))
    judged = proof.judge(BEFORE, after, [change], [change])
    assert judged.trouble is not None
    assert judged.trouble.startswith("TPU502 fails with it")
    timed = report(GONE, failed("TPU201", finding(3, "waits")))
    assert proof.judge(BEFORE, timed, [change], [change]).sound


def test_a_crash_speaks_against_a_change(change: Candidate) -> None:
    after = report(GONE, partial="the job crashed: NameError")
    assert proof.judge(BEFORE, after, [change], [change]).trouble == "the job crashed: NameError"


def test_an_end_that_was_there_before_is_no_crash(change: Candidate) -> None:
    before = report(failed("TPU203", finding(2)), partial="the job crashed: no x (train.py:9)")
    after = report(GONE, partial="the job crashed: no x (train.py:10)")
    assert proof.judge(before, after, [change], [change]).sound


@pytest.mark.parametrize(
    ("effect", "losses", "weights", "good", "said"),
    [
        (Effect.NONE, (1.0, 0.5), (3.0, 3.0), True, "the weights after them are equal bit for bit"),
        (Effect.NONE, (1.0, 0.5), (3.1, 3.1), True, "losses of 2 steps are equal bit for bit"),
        (Effect.NONE, (1.0, 0.50001), (3.0, 3.0), True, "differ by up to 2e-05"),
        (Effect.NONE, (1.0, 0.6), (3.0, 3.0), False, "differ by up to"),
        (Effect.ORDER, (1.0, 0.6), (3.0, 3.0), True, "may be another"),
        (Effect.ORDER, (1.0, 1.6), (3.0, 3.0), False, "may be another"),
        (Effect.NUMBERS, (8.0, 4.0), (3.0, 3.0), True, "loss 1 -> 8 at the first step"),
        (Effect.NUMBERS, (8.0, float("nan")), (3.0, 3.0), False, "loss 1 -> 8"),
        (Effect.NONE, (1.0, float("nan")), (3.0, 3.0), False, "not finite"),
    ],
)
def test_losses_are_compared(
    effect: Effect, losses: tuple[float, ...], weights: tuple[float, ...], good: bool, said: str
) -> None:
    alike, text = proof.compared(report(), report(losses=losses, weights=weights), [effect])
    assert (alike, said in text) == (good, True)


def test_weights_are_compared_where_the_step_returns_no_loss() -> None:
    none = report(losses=())
    assert proof.compared(none, none, [Effect.NONE]) == (
        True,
        "the weights after the observed steps are equal bit for bit",
    )
    assert not proof.compared(none, report(losses=(), weights=(4.0, 4.0)), [Effect.NONE])[0]
    assert "nothing" not in proof.compared(report(losses=(), weights=()), none, [])[1]


@pytest.mark.parametrize(
    ("mended", "worth"), [(1500, "1,000 -> 1,500 examples/s of input"), (990, ""), (1040, "")]
)
def test_a_rate_that_did_not_grow_is_no_worth(
    document: documents.Script, mended: int, worth: str
) -> None:
    rates = (Evidence("as built", 1000), Evidence("with prefetch", mended))
    slow = replace(candidate(document, 3, Edit(0, 0, "")).finding, evidence=rates)
    assert proof.worth(slow, report()) == worth


def test_worth_is_taken_from_what_was_measured(change: Candidate) -> None:
    assert proof.worth(change.finding, report(traces=1)) == "7 -> 1 traces"
    assert proof.worth(finding(2, cost=12.5), report()) == "up to 12.5 ms a step here"
    (change_of,) = proof.figures(report(), report(traces=1))
    assert (change_of.name, change_of.before, change_of.after) == ("traces", 7, 1)
