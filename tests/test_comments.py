"""Findings that a comment silences, or that are not sure."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tpudiag.comments import reason_to_ignore
from tpudiag.engine import examine
from tpudiag.model import Confidence, Evidence, Finding, Location, Outcome, Severity, Verdict, check
from tpudiag.settings import Settings
from tpudiag.signals import EMPTY, Signals


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x = f()  # tpudiag: ignore[TPU204] small data", "small data"),
        ("x = f()  #tpudiag:ignore[TPU101, TPU2] all of it", "all of it"),
        ("x = f()  # tpudiag: ignore[TPU204]", None),
        ("x = f()  # tpudiag: ignore[TPU205] another", None),
        ("x = f()", None),
    ],
)
def test_a_comment_names_the_check_and_gives_a_reason(
    tmp_path: Path, line: str, reason: str | None
) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"import x\n{line}\n")
    assert reason_to_ignore(Location(str(script), 2), "TPU204") == reason
    assert reason_to_ignore(Location(str(script), 1), "TPU204") is None
    assert reason_to_ignore(Location(str(script), 9), "TPU204") is None
    os.mkfifo(tmp_path / "pipe.py")
    assert reason_to_ignore(Location(str(tmp_path / "pipe.py"), 1), "TPU204") is None


def outcome(*findings: Finding, pedantic: bool = False) -> Outcome:
    @check("TPU999", Severity.ERROR)
    def disease(_: Signals) -> Iterator[Finding | Evidence]:
        yield from findings
        yield Evidence("seen", 1)

    return examine(EMPTY, (disease,), Settings(pedantic=pedantic))[0]


def test_only_what_is_sure_is_an_error() -> None:
    sure, likely = Finding("a", "b"), Finding("a", "b", confidence=Confidence.MEDIUM)
    assert outcome(sure).severity is Severity.ERROR
    assert outcome(likely).severity is Severity.WARNING
    assert outcome(likely, sure).severity is Severity.ERROR


def test_low_confidence_is_for_the_pedantic() -> None:
    maybe = Finding("a", "b", confidence=Confidence.LOW)
    quiet = outcome(maybe)
    assert quiet.verdict is Verdict.SKIPPED and len(quiet.silenced) == 1
    assert outcome(maybe, pedantic=True).severity is Severity.WARNING


def test_a_silenced_finding_is_counted_and_no_pass(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text("f()  # tpudiag: ignore[TPU9] known\n")
    silent = outcome(Finding("a", "b", location=Location(str(script), 1)))
    assert silent.verdict is Verdict.SKIPPED
    assert [each.reason for each in silent.silenced] == ["known"]
    assert "known" in (silent.reason or "")
