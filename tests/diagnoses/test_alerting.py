"""Alerts: once when raised, once when over, with all that is known on the hook's stdin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tpudiag.diagnoses.alerting import Alerts
from tpudiag.model import Finding, Outcome, Severity, Verdict

BAD = Outcome(
    id="TPU604",
    name="stalled",
    verdict=Verdict.FAILED,
    severity=Severity.ERROR,
    findings=(Finding("no step for 700 s", "look"), Finding("another", "look")),
)
GOOD = Outcome(id="TPU604", name="stalled", verdict=Verdict.PASSED, severity=Severity.ERROR)


def test_the_hook_hears_of_the_beginning_and_the_end(tmp_path: Path) -> None:
    told = tmp_path / "told"
    alerts = Alerts("logs", f"(echo $TPUDIAG_STATE $TPUDIAG_CAUSE; cat) >> {told}")
    cause = {"kind": "input", "text": "the step waits for input"}
    for outcome in (BAD, BAD):
        alerts.judge(outcome, {"job": "bert", "cause": cause})
    alerts.close()
    alerts.judge(GOOD, {"job": "bert", "cause": None})
    alerts.judge(GOOD, {"job": "bert", "cause": None})
    alerts.close()
    assert alerts.told == [
        "TPU604 stalled: no step for 700 s (1 more)",
        "TPU604 stalled: over",
    ]
    first, raised, second, over = told.read_text(encoding="utf-8").splitlines()
    assert (first, second) == ("raised input", "over")
    payload = json.loads(raised)
    assert payload["cause"] == cause
    assert (payload["id"], payload["state"], payload["job"]) == ("TPU604", "raised", "bert")
    assert json.loads(over)["state"] == "over"


def test_a_hook_that_reads_nothing_or_fails_harms_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    del tmp_path
    alerts = Alerts("logs", "exec <&-; exit 3")
    alerts.judge(BAD, {"job": "x" * 100_000})
    alerts.close()
    assert "--on-alert: exit code 3" in capfd.readouterr().err
