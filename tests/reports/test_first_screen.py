"""The first screen: what is wrong, at which line, what it costs, the fix, what is next."""

import re
from dataclasses import replace
from itertools import takewhile

import pytest

from tests import made
from tpudiag.catalogue import renderer
from tpudiag.model import (
    Evidence,
    Finding,
    Location,
    Outcome,
    Report,
    Severity,
    Subject,
    TargetSummary,
    Verdict,
)
from tpudiag.report_figures import Excerpt, Measurement, Table


def outcome(number: int, verdict: Verdict, *findings: Finding) -> Outcome:
    return made.outcome(
        f"TPU{number}",
        verdict,
        *findings,
        name="a-disease",
        severity=Severity.WARNING,
        reason="it was not seen" if verdict in (Verdict.SKIPPED, Verdict.BROKEN) else None,
        evidence=() if findings else (Evidence("seen", 1),),
    )


def finding(line: int, fix: str = "a = 2") -> Finding:
    message = "What is wrong, in as many words as it takes to fill two lines of a narrow terminal."
    return Finding(message, fix, (Evidence("seen", 1),), Location("train.py", line))


def job(*outcomes: Outcome) -> Report:
    return made.report(
        *outcomes,
        target=TargetSummary("v5e-8", 8),
        headline="Rehearsed for v5e-8.",
        excerpts=(Excerpt("train.py", 1, ("import x", "    a = 1  ", "")),),
        measurements={"step_time_ms": Measurement(3.5, "ms", "job")},
        next_command="xprof --logdir logs",
    )


def shown(report: Report) -> list[str]:
    text: str = renderer("text")(report)
    return text.splitlines()


def predicted(**measurements: Measurement) -> str:
    """What a job with a predicted step shows of these figures, in one line."""
    step = estimate(41.0, 33.0, 52.0, "ms")
    given = {"predicted_step_ms": step, **measurements}
    return re.sub(r"\s+", " ", " ".join(shown(replace(job(*HEALTHY), measurements=given))))


def estimate(value: float, low: float, high: float, unit: str = "examples/s") -> Measurement:
    return Measurement(value, unit, "estimate", low=low, high=high)


HEALTHY = tuple(outcome(100 + n, Verdict.PASSED) for n in range(28))
UNKNOWN = tuple(outcome(200 + n, Verdict.SKIPPED) for n in range(11))


def test_a_healthy_job_fits_a_screen() -> None:
    rows = shown(job(*HEALTHY, *UNKNOWN))
    assert len(rows) <= 25
    assert "28 passed, 11 not measured (-v shows them)" in rows
    assert rows[-1] == "Open the profile: xprof --logdir logs"


def test_three_findings_fit_three_screens() -> None:
    failed = [outcome(300 + n, Verdict.FAILED, finding(2, "fix\n" * 10)) for n in range(3)]
    assert len(shown(job(*failed, *HEALTHY, *UNKNOWN))) <= 70


def test_a_finding_shows_its_line_with_a_caret_under_the_code() -> None:
    rows = shown(job(outcome(301, Verdict.FAILED, finding(2))))
    at = rows.index("  --> train.py:2")
    assert rows[at + 1 : at + 3] == ["    2 |     a = 1", "      |     ^^^^^"]
    assert "  fix  a = 2" in rows


def test_a_line_that_is_not_known_is_left_out() -> None:
    rows = shown(job(outcome(301, Verdict.FAILED, finding(9), finding(3))))
    assert not [row for row in rows if "|" in row]


def test_many_findings_of_one_check_are_three_and_the_places_of_the_rest() -> None:
    many = outcome(301, Verdict.FAILED, *(finding(n, f"a = {n}") for n in range(1, 7)))
    rows = shown(job(many))
    assert sum(row.startswith("  --> ") for row in rows) == 3
    assert "  and 3 more: train.py:4, train.py:5, train.py:6" in rows


def test_figures_of_a_job_wait_for_verbose_but_those_of_a_profile_do_not() -> None:
    table = Table("Operations", ("op", "ms"), tuple((f"op{n}", n) for n in range(20)), "profile")
    report = replace(job(*HEALTHY), tables=(table,))
    assert "Measurements" not in shown(report)
    rows = shown(replace(report, subject=Subject("profile", "logs")))
    assert "Measurements" in rows
    assert "  ... 12 more rows (-v)" in rows


def test_broken_checks_are_said_to_be_ours() -> None:
    report = job(outcome(101, Verdict.BROKEN), *HEALTHY)
    rows = shown(report)
    assert "Broken, a fault of tpudiag and not of the job: TPU101 (-v says how)." in rows
    assert "28 passed, 0 not measured, 1 broken (-v shows them)" in rows
    assert "\x1b[1;35m28 passed" in renderer("rich")(report)


def test_a_prediction_carries_its_range() -> None:
    said = predicted(predicted_bound_by=Measurement("HBM", "", "estimate"))
    assert "predicted on v5e-8: 41 ms a step (33 to 52), bound by HBM" in said


def test_an_estimate_has_no_more_digits_than_it_is_worth() -> None:
    rate = estimate(24_975.6, 19_692.3, 31_030.3)
    said = predicted(
        predicted_examples_per_second=rate,
        input_needed_examples_per_second_per_host=rate,
        input_capacity_examples_per_second_per_host=estimate(1_234.5, 987.6, 2_345.6),
    )
    assert "25,000 examples/s (19,700 to 31,000)" in said
    assert "input: the step needs 25,000 examples/s (19,700 to 31,000) of a host;" in said
    assert "gives 1,230 examples/s (988 to 2,350): too little, the step waits" in said


def test_what_the_input_needs_is_told_in_cores_of_the_host() -> None:
    rate = estimate(25_000.0, 20_000.0, 30_000.0)
    said = predicted(
        input_needed_examples_per_second_per_host=rate,
        input_capacity_examples_per_second_per_host=rate,
        input_cores_needed_per_host=estimate(11.2, 8.9, 14.0, "vCPUs"),
        input_vcpus_per_host=Measurement(224, "vCPUs", "ct5lp-hightpu-8t"),
    )
    assert "of a host, the work of 11.2 vCPUs (8.9 to 14) of its 224; the pipeline" in said


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(500.0, 900.0, "enough"), (150.0, 400.0, "the ranges overlap")]
)
def test_the_input_is_enough_only_where_both_ranges_say_so(
    low: float, high: float, verdict: str
) -> None:
    said = predicted(
        input_needed_examples_per_second_per_host=estimate(150.0, 100.0, 200.0),
        input_capacity_examples_per_second_per_host=estimate(600.0, low, high),
    )
    assert f"): {verdict}" in said


@pytest.mark.parametrize("width", [60, 61, 62, 63, 64, 79, 80, 81])
def test_a_note_that_is_cut_fits_the_width(
    specimens: dict[str, Report], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    note = "Not as if started by hand: " + "set in its environment; " * 20
    shown = renderer("rich")(replace(specimens["healthy"], notes=(note,)))
    text = re.sub(r"\x1b\[[\d;]*m", "", shown)
    rows = text.partition("Note: ")[2].splitlines()
    note_rows = list(takewhile(str.strip, rows))
    assert len(note_rows) == 2 and note_rows[-1].endswith("...")
    assert max(map(len, ("Note: " + note_rows[0], note_rows[1]))) <= width
