"""Alerts: once when raised, once when over, with all that is known on the hook's stdin."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests import made
from tpudiag.diagnoses.alerting import SETTLED_S, Alerts
from tpudiag.model import Finding, Severity, Verdict

BAD = made.outcome(
    "TPU604",
    Verdict.FAILED,
    Finding("no step for 700 s", "look"),
    Finding("another", "look"),
    name="stalled",
)
GOOD = made.outcome("TPU604", Verdict.PASSED, name="stalled")


def test_the_hook_hears_of_the_beginning_and_the_end(tmp_path: Path) -> None:
    told = tmp_path / "told"
    variables = "$TPUDIAG_ALERT $TPUDIAG_SOURCE $TPUDIAG_STATE $TPUDIAG_CAUSE $TPUDIAG_MESSAGE"
    alerts = Alerts("logs", f"(echo {variables}; cat) >> {told}")
    cause = {"kind": "input", "text": "the step waits for input"}
    for outcome in (BAD, BAD):
        alerts.judge(outcome, {"job": "bert", "cause": cause})
    alerts.close()
    alerts.judge(GOOD, {"job": "bert", "cause": None})
    alerts.judge(GOOD, {"job": "bert", "cause": None})
    alerts.close()
    assert alerts.lines == ["TPU604 stalled: no step for 700 s (1 more)", "TPU604 stalled: over"]
    first, raised, second, over = told.read_text(encoding="utf-8").splitlines()
    assert first == "TPU604 logs raised input no step for 700 s (1 more)"
    assert second == "TPU604 logs over no step for 700 s (1 more)"
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


def test_a_warning_on_the_edge_of_its_limit_is_one_alert() -> None:
    now_s = [0.0]
    alerts = Alerts("logs", monotonic=lambda: now_s[0])
    warns = replace(BAD, severity=Severity.WARNING)
    for now_s[0] in range(0, 40, 2):
        alerts.judge(warns if now_s[0] % 4 else GOOD, {})
    assert len(alerts.lines) == 1
    now_s[0] = 38.0 + SETTLED_S + 1
    alerts.judge(GOOD, {})
    now_s[0] += SETTLED_S
    alerts.judge(GOOD, {})
    assert [line.rpartition(": ")[2] for line in alerts.lines][1:] == ["over"]
