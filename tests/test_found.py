"""Inputs that lie, as fuzzing found them: each ends in an answer or in one line."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tpudiag import report_json, settings
from tpudiag.diagnoses.lost_time import timeline
from tpudiag.diagnoses.watch_request import expected
from tpudiag.errors import TpudiagError, UnreadableInput, UsageError
from tpudiag.monitoring.ledger import Account, TimeUse
from tpudiag.planning import prices
from tpudiag.sources import script
from tpudiag.sources.live import metrics

GOLDEN = Path(__file__).parent / "golden"
DIGITS = "9" * 5000


def healthy() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((GOLDEN / "plots.json").read_text("utf-8"))
    return document


@pytest.mark.parametrize(
    ("verdict", "gone"),
    [("failed", "findings"), ("passed", "evidence"), ("skipped", "reason")],
)
def test_an_outcome_says_what_its_verdict_promises(tmp_path: Path, verdict: str, gone: str) -> None:
    document, file = healthy(), tmp_path / "a.json"
    outcome = next(o for o in document["outcomes"] if o["verdict"] == verdict)
    del outcome[gone]
    file.write_text(json.dumps(document))
    with pytest.raises(UnreadableInput, match=f"{outcome['id']} is {verdict} without"):
        report_json.load(file)


def test_a_report_without_what_has_a_default_is_written_again(tmp_path: Path) -> None:
    document, file = healthy(), tmp_path / "a.json"
    for outcome in document["outcomes"]:
        if outcome["verdict"] != "failed":
            del outcome["findings"]
    del document["target"]
    file.write_text(json.dumps(document))
    assert json.loads(report_json.dumps(report_json.load(file)))["target"] is None


@pytest.mark.parametrize("text", [f"[tool.tpudiag]\nx = {DIGITS}", "a = " + "[" * 20_000])
def test_settings(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"# tpudiag\n{text}")
    with pytest.raises(UsageError) as refused:
        settings.load(tmp_path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["a.json", "a.toml"])
@pytest.mark.parametrize("text", ["[" * 200_000, f"a = {DIGITS}", f'{{"a": {DIGITS}}}'])
def test_prices_and_expectations(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    for read in (prices.load, expected):
        with pytest.raises(TpudiagError) as refused:
            read(tmp_path / name)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["(" * 20_000, f"x = {DIGITS}", "from " + "a" * 300 + ".b import *", "x = 1\0"]
)
def test_scripts(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(text)
    assert script.look(str(tmp_path / "a.py")).tf1 == ()


def test_a_ledger_with_years_between_its_minutes() -> None:
    minutes = {0: {TimeUse.STEPS: 60.0}, 10**9: {TimeUse.STEPS: 30.0, TimeUse.DOWN: 30.0}}
    made = timeline(Account(spent={}, minutes=minutes, restarts_unknown=False))
    assert {series.name: (series.y[0], series.y[-1]) for series in made} == {
        TimeUse.STEPS.value: (100.0, 50.0),
        TimeUse.DOWN.value: (0.0, 50.0),
    }


def test_labels_of_one_long_word() -> None:
    def took_s(size: int) -> float:
        text = 'duty_cycle{make="cloud-tpu",' + "a" * size + "} 1"
        began = time.process_time()
        list(metrics._figures(text, ""))  # pyright: ignore[reportPrivateUsage]
        return time.process_time() - began

    assert took_s(64_000) < 60 * max(took_s(4_000), 0.002)
