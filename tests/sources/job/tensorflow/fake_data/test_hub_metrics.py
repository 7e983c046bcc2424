"""Metrics whose code is on a hub that cannot be reached."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow.fake_data import hub_metrics
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger


def test_metrics_that_are_away_answer_as_they_would(tmp_path: Path) -> None:
    noted: list[Any] = []

    def load(path: str, config_name: str | None = None) -> str:
        assert package.config.HF_EVALUATE_OFFLINE, "no wait for a network"
        if path == "kept":
            return "of the cache"
        raise ConnectionError(config_name)

    package = SimpleNamespace(
        load=load, EvaluationModule=object, config=SimpleNamespace(HF_EVALUATE_OFFLINE=False)
    )
    ledger = Ledger(str(tmp_path), lambda **facts: noted.append(facts["stood_in"]))
    hub_metrics.install(package, ledger)
    assert package.load("kept") == "of the cache" and not noted
    made: Any = package.load("glue", "stsb")
    made.add_batch(predictions=[1], references=[1])
    assert set(made.compute()) == {"pearson", "spearmanr"}
    other: Any = package.load("organisation/wer")
    assert set(other.compute(predictions=[], references=[])) == {"wer"}
    assert "the metric glue" in noted[-1]


def test_a_module_of_the_users_that_is_called_so_is_left_alone(tmp_path: Path) -> None:
    own = SimpleNamespace(load=print)
    hub_metrics.install(own, Ledger(str(tmp_path), lambda **_: None))  # pyright: ignore
    assert own.load is print
