"""What a comparison of two reports shows."""

import warnings
from dataclasses import replace
from pathlib import Path

from tests import made
from tpudiag import report_json
from tpudiag.cli import main
from tpudiag.diagnoses.changes import INPUT_CPU, Change, changes, lost
from tpudiag.diagnoses.comparison import links
from tpudiag.model import Finding, Report, Subject, Verdict
from tpudiag.report_figures import Measurement, XProfLink
from tpudiag.statistics import Difference, runs_difference


def job(name: str, need: int) -> Report:
    need_bytes = Measurement(need, "bytes", "TPU compiler")
    return made.report(subject=Subject("job", name), measurements={"hbm_need_bytes": need_bytes})


def test_untested_figures_take_no_column_and_other_jobs_are_said(tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    out = tmp_path / "compared.json"
    for names in (("train.py", "train.py"), ("train.py", "other.py")):
        for file, name in zip(files, names, strict=True):
            file.write_text(report_json.dumps(job(name, 1000)))
        main(["compare", *map(str, files), "-o", str(out)])
        compared = report_json.load(out)
        assert compared.tables[0].columns == ("figure", "A", "B", "change", "verdict")
        assert len(compared.tables[0].rows[0]) == len(compared.tables[0].columns)
        told = any("different jobs: train.py and other.py" in note for note in compared.notes)
        assert told == (len(set(names)) == 2)


def fed(us: float) -> Report:
    measurements = {INPUT_CPU: Measurement(us, "us of one core", "the pipeline alone")}
    return replace(job("train.py", 1000), measurements=measurements)


def test_cpu_time_of_the_input_is_judged_by_what_differs_from_run_to_run() -> None:
    before, noisy, slower = (
        [fed(us) for us in side]
        for side in ((100.0, 110.0, 104.0), (101.0, 112.0, 106.0), (150.0, 162.0, 155.0))
    )

    def closes(left: list[Report], right: list[Report]) -> bool:
        (change,) = changes(left, right)
        return change.regressed(0.02)

    assert closes(before, slower) and not closes(before, noisy)
    assert not closes(before[:1], slower[:1]), "one run a side tells nothing of its noise"
    assert lost(before, [replace(fed(1.0), measurements={})]) == ()


WORSE = Difference(0.2, 0.1, 0.3, 0.001)


def run(letter: str, *names: str) -> Report:
    links = tuple(XProfLink(name=name, url=f"http://{letter}/{name}") for name in names)
    return made.report(subject=Subject("profile", letter), xprof_links=links)


def changed(name: str, after: float) -> Change:
    change = after / 10 - 1
    return Change(name=name, unit="ms", before=10.0, after=after, change=change, difference=WORSE)


def test_of_what_got_worse_both_runs_are_linked() -> None:
    before = run("a", "usual step", "slowest step", "HLO Op Profile")
    after = run("b", "usual step", "slowest step")
    worse = [changed("step_time_p90_ms", 20.0), changed("step_time_ms", 10.1)]
    assert [(link.name, link.url) for link in links(before, after, worse, 0.05)] == [
        ("A, slowest step", "http://a/slowest step"),
        ("B, slowest step", "http://b/slowest step"),
    ], "the median grew by less than the limit"
    slower = list(links(before, after, [changed("step_time_ms", 20.0)], 0.05))
    assert [link.name for link in slower] == ["A, usual step", "B, usual step", "A, HLO Op Profile"]


def test_a_finding_that_only_the_second_run_has_is_linked_there() -> None:
    def judged(letter: str, verdict: Verdict) -> Report:
        failed = verdict is Verdict.FAILED
        finding = Finding("the step waits", "fix", xprof_link=f"http://{letter}/moment")
        outcome = made.outcome("TPU201", verdict, *(finding,) * failed)
        return replace(run(letter), outcomes=(outcome,))

    good, bad = judged("a", Verdict.PASSED), judged("b", Verdict.FAILED)
    (link,) = links(good, bad, [], 0.05)
    assert (link.name, link.url) == ("B, TPU201 input-bound", "http://b/moment")
    assert not list(links(bad, bad, [], 0.05)) and not list(links(bad, good, [], 0.05))


def test_what_got_better_or_is_shown_nowhere_has_no_link() -> None:
    assert not list(links(run("a", "usual step"), run("b"), [changed("step_time_ms", 9.0)], 0.05))
    assert not list(links(run("a"), run("b"), [changed("step_time_ms", 20.0)], 0.05))


def test_runs_alike_but_for_their_last_bits_are_compared_without_a_warning() -> None:
    with warnings.catch_warnings(action="error"):
        assert runs_difference([8.0, 8.0 + 4e-15], [8.0, 8.0 + 8e-15]) is not None
