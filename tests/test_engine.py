"""Three-valued truth: passed only on evidence, and nothing that was found is lost."""

from collections.abc import Callable, Iterator
from typing import Any

from tests import made
from tpudiag.engine import examine
from tpudiag.model import Check, Evidence, Finding, NotMeasured, Outcome, Severity, Verdict, check
from tpudiag.settings import Settings
from tpudiag.signals import Origin, Signals, StandInKind

SIGNALS = Signals(origin=Origin.REHEARSAL)
Said = Iterator[Finding | Evidence]
FINDING = Finding("It is ill.", "heal(it)")


def judged(function: Callable[..., Said], settings: Settings | None = None) -> Outcome:
    unit = check("TPU999", Severity.WARNING)(function)
    (outcome,) = examine(SIGNALS, [unit], settings or Settings())
    return outcome


def said(*found: Any, then: Exception | None = None) -> Outcome:
    """What becomes of a check that says this, and then raises."""

    def some_disease(_: Signals) -> Said:
        yield from found
        if then is not None:
            raise then

    return judged(some_disease)


def test_evidence_passes() -> None:
    seen = Evidence("origin", "rehearsal")
    assert said(seen) == made.outcome(
        "TPU999",
        Verdict.PASSED,
        name="some-disease",
        severity=Severity.WARNING,
        evidence=(seen,),
    )


def test_nothing_seen_is_skipped_not_healthy() -> None:
    outcome = said()
    assert outcome.verdict is Verdict.SKIPPED
    assert outcome.cause


def test_a_figure_that_is_no_number_is_skipped_not_healthy() -> None:
    outcome = said(Evidence("idle share", float("nan"), limit=0.1))
    assert outcome.verdict is Verdict.SKIPPED
    assert outcome.cause == "idle share is not a number"


def test_not_measured_is_skipped_and_says_how() -> None:
    outcome = said(then=NotMeasured("no steps were seen.", "run more steps."))
    assert outcome.verdict is Verdict.SKIPPED
    assert (outcome.cause, outcome.how_to_measure) == ("no steps were seen", "run more steps")


def test_evidence_before_not_measured_is_no_pass() -> None:
    missing = NotMeasured("the second half is missing", "look again")
    assert said(Evidence("first half", 1), then=missing).verdict is Verdict.SKIPPED


def test_a_broken_check_hides_no_other() -> None:
    def bad(_: Signals) -> Said:
        raise KeyError("x")
        yield

    def good(_: Signals) -> Said:
        yield Evidence("seen", 1)

    units = [Check("TPU901", Severity.ERROR, bad), Check("TPU902", Severity.ERROR, good)]
    first, second = examine(SIGNALS, units, Settings())
    assert (first.verdict, first.reason) == (Verdict.BROKEN, "KeyError: 'x'")
    assert second.verdict is Verdict.PASSED


def test_a_check_that_yields_nonsense_is_broken() -> None:
    assert said("fine").verdict is Verdict.BROKEN


def test_what_was_found_stands_however_the_check_ends() -> None:
    broke = said(FINDING, then=RuntimeError("later"))
    blind = said(FINDING, then=NotMeasured("the rest was not seen", "look again"))
    assert broke.verdict is blind.verdict is Verdict.FAILED
    assert broke.findings == blind.findings == (FINDING,)
    assert broke.reason == "RuntimeError: later"
    assert blind.how_to_measure == "look again"


def test_the_worst_finding_sets_the_severity_and_a_milder_one_lowers_it() -> None:
    worse = Finding("a", "b", severity=Severity.ERROR)
    assert said(worse, FINDING).severity is Severity.ERROR
    assert said(Finding("a", "b", severity=Severity.INFO)).severity is Severity.INFO


def test_a_limit_is_overridden_by_id() -> None:
    def limited(_: Signals, limit: float = 5) -> Said:
        yield Evidence("figure", 3, limit=limit)

    assert judged(limited).evidence[0].limit == 5
    assert judged(limited, Settings(limits={"TPU999": 7})).evidence[0].limit == 7
    assert judged(limited, Settings(limits={"TPU998": 7})).evidence[0].limit == 5


def test_only_selected_checks_run_in_the_order_given() -> None:
    def seen(_: Signals) -> Said:
        yield Evidence("seen", 1)

    units = [Check(id_, Severity.INFO, seen) for id_ in ("TPU203", "TPU101", "TPU201")]
    settings = Settings(select=("TPU2",), ignore=("TPU201",))
    assert [outcome.id for outcome in examine(SIGNALS, units, settings)] == ["TPU203"]


def test_sizes_are_not_judged_where_what_has_them_was_stood_in_for() -> None:
    def some_disease(_: Signals) -> Said:
        yield FINDING

    of_model = check("TPU999", Severity.WARNING, needs_model=True)(some_disease)
    of_data = check("TPU998", Severity.WARNING, needs_data=True)(some_disease)

    def verdict(unit: Check, *kinds: StandInKind) -> Verdict:
        signals = Signals(origin=Origin.REHEARSAL, stood_in=("a",), stand_in_kinds=kinds)
        (outcome,) = examine(signals, [unit], Settings())
        return outcome.verdict

    assert verdict(of_model, "data", "batch") is Verdict.FAILED
    assert verdict(of_model, "model") is Verdict.SKIPPED
    assert verdict(of_data, "service") is Verdict.FAILED
    assert verdict(of_data, "data", "service") is Verdict.SKIPPED
