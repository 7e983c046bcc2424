"""Data sets and metrics of a hub that cannot be reached."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow.fake_data import hub_datasets
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger


def test_what_is_there_is_read_and_what_is_not_is_a_hole(tmp_path: Path) -> None:
    def load_dataset(path: str, name: str | None = None, **_: Any) -> str:
        if path == "csv":
            return "read"
        assert made.config.HF_HUB_OFFLINE, "no wait for a network"
        if path == "kept":
            return "of the cache"
        raise ConnectionError(name)

    noted: list[tuple[str, ...]] = []
    made: Any = SimpleNamespace(
        load_dataset=load_dataset, config=SimpleNamespace(HF_HUB_OFFLINE=False), DatasetDict=dict
    )
    ledger = Ledger(str(tmp_path), lambda **facts: noted.append(facts["stood_in"]))
    hub_datasets.install(made, ledger)
    assert made.load_dataset("csv", data_files="a.csv") == "read"
    assert made.load_dataset("kept") == "of the cache"
    assert not noted and made.config.HF_HUB_OFFLINE is False
    train, test = made.load_dataset("glue", "mnli", split=["train", "test"])
    assert isinstance(train.map(len)["label"], Hole) and isinstance(test, Hole)
    assert noted[-1] == ("glue, of a hub",)


def test_a_module_of_the_users_own_is_left_alone(tmp_path: Path) -> None:
    own = SimpleNamespace(load_dataset=len)
    hub_datasets.install(own, Ledger(str(tmp_path), lambda **_: None))
    assert own.load_dataset is len
