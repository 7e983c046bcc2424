"""What is called normal: a rate, or the slow end of a plan's prediction."""

import json
from pathlib import Path
from typing import Any

import pytest

from tpudiag.diagnoses.watch_request import expected
from tpudiag.errors import UsageError

ROW = {
    "target": "v5e-8",
    "fits": True,
    "batch_per_replica": 128,
    "best": True,
    "examples_per_second": 10_000.0,
    "step_ms": 100.0,
    "step_high_ms": 125.0,
}


def plan(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "plan.json"
    path.write_text(json.dumps({"schema_version": 1, "plan": rows}), encoding="utf-8")
    return path


def test_a_rate_is_taken_as_it_is() -> None:
    assert expected(None) is None
    reference = expected(500.0)
    assert reference is not None and reference.per_s == 500


def test_a_plan_gives_the_slow_end_of_its_best_batch(tmp_path: Path) -> None:
    reference = expected(plan(tmp_path, {**ROW, "best": False, "examples_per_second": 9.0}, ROW))
    assert reference is not None and reference.given
    assert reference.per_s == pytest.approx(8_000)
    assert "plan.json predicts for v5e-8 at 128 a replica: 8,000 at the least" in reference.text


def test_a_report_that_predicts_none_or_several_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="predicts no rate"):
        expected(plan(tmp_path))
    with pytest.raises(UsageError, match=r"several TPUs \(v5e-8, v6e-8\)"):
        expected(plan(tmp_path, ROW, {**ROW, "target": "v6e-8"}))
    (tmp_path / "no.json").write_text("no", encoding="utf-8")
    with pytest.raises(UsageError, match="neither a rate nor a JSON report"):
        expected(tmp_path / "no.json")
    with pytest.raises(UsageError, match="No such file"):
        expected(tmp_path / "none.json")
