"""Where XProf shows what got worse."""

from __future__ import annotations

from dataclasses import replace

from tpudiag.diagnoses.changed_places import links
from tpudiag.diagnoses.changes import Change
from tpudiag.model import Finding, Outcome, Report, Severity, Subject, Verdict
from tpudiag.report_figures import XProfLink
from tpudiag.statistics import Difference

WORSE = Difference(0.2, 0.1, 0.3, 0.001)


def run(letter: str, *names: str) -> Report:
    return Report(
        subject=Subject("profile", letter),
        started="2026-01-01T00:00:00Z",
        outcomes=(),
        xprof_links=tuple(XProfLink(name=name, url=f"http://{letter}/{name}") for name in names),
    )


def changed(name: str, after: float) -> Change:
    return Change(
        name=name, unit="ms", before=10.0, after=after, change=after / 10 - 1, difference=WORSE
    )


def test_of_what_got_worse_both_runs_are_linked() -> None:
    before = run("a", "usual step", "slowest step", "HLO Op Profile")
    after = run("b", "usual step", "slowest step")
    worse = [changed("step_time_p90_ms", 20.0), changed("step_time_ms", 10.1)]
    made = list(links(before, after, worse, 0.05))
    assert [(link.name, link.url) for link in made] == [
        ("A, slowest step", "http://a/slowest step"),
        ("B, slowest step", "http://b/slowest step"),
    ], "the median grew by less than the limit"
    slower = list(links(before, after, [changed("step_time_ms", 20.0)], 0.05))
    assert [link.name for link in slower] == ["A, usual step", "B, usual step", "A, HLO Op Profile"]


def test_a_finding_that_only_the_second_run_has_is_linked_there() -> None:
    def judged(letter: str, verdict: Verdict) -> Report:
        failed = verdict is Verdict.FAILED
        finding = Finding("the step waits", "fix", xprof_link=f"http://{letter}/moment")
        outcome = Outcome(
            id="TPU201",
            name="input-bound",
            verdict=verdict,
            severity=Severity.ERROR,
            findings=(finding,) * failed,
        )
        return replace(run(letter), outcomes=(outcome,))

    good, bad = judged("a", Verdict.PASSED), judged("b", Verdict.FAILED)
    (link,) = links(good, bad, [], 0.05)
    assert (link.name, link.url) == ("B, TPU201 input-bound", "http://b/moment")
    assert not list(links(bad, bad, [], 0.05)) and not list(links(bad, good, [], 0.05))


def test_what_got_better_or_is_shown_nowhere_has_no_link() -> None:
    assert not list(links(run("a", "usual step"), run("b"), [changed("step_time_ms", 9.0)], 0.05))
    assert not list(links(run("a"), run("b"), [changed("step_time_ms", 20.0)], 0.05))
