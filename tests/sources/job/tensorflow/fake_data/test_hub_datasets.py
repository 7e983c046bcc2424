"""Data sets of a hub that cannot be reached."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data import hub_datasets
from tpudiag.sources.job.tensorflow.fake_data.ledger import RECORDS, Ledger


class Dataset:
    """As one of the package, as far as it is asked."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = columns
        self.classes: dict[str, int] = {}

    @classmethod
    def from_dict(cls, columns: dict[str, list[Any]]) -> Dataset:
        return cls(columns)

    def cast_column(self, name: str, feature: Any) -> Dataset:
        self.classes[name] = len(feature.names)
        return self


@pytest.fixture
def package(tmp_path: Path) -> SimpleNamespace:
    def load_dataset(path: str, name: str | None = None, **_: Any) -> str:
        if path == "csv":
            return "read"
        assert made.config.HF_HUB_OFFLINE, "no wait for a network"
        if path == "kept":
            return "of the cache"
        raise ConnectionError(name)

    made = SimpleNamespace(
        load_dataset=load_dataset,
        config=SimpleNamespace(HF_HUB_OFFLINE=False),
        Dataset=Dataset,
        DatasetDict=dict,
        ClassLabel=lambda names: SimpleNamespace(names=names),
    )
    made.noted = []
    ledger = Ledger(str(tmp_path), lambda **facts: made.noted.append(facts["stood_in"]))
    hub_datasets.install(made, ledger)
    return made


def test_what_is_there_is_read(package: SimpleNamespace) -> None:
    assert package.load_dataset("csv", data_files="a.csv") == "read"
    assert package.load_dataset("kept") == "of the cache"
    assert not package.noted and package.config.HF_HUB_OFFLINE is False


def test_what_is_away_has_the_columns_that_it_has_on_the_hub(package: SimpleNamespace) -> None:
    glue = package.load_dataset("glue", "mnli")
    assert {"train", "validation", "test"} <= set(glue)
    train = glue["train"]
    assert set(train.columns) == {"premise", "hypothesis", "label", "idx"}
    assert len(train.columns["idx"]) == RECORDS and train.classes == {"label": 3}
    part = package.load_dataset("user/squad", split="validation[:10%]")
    answer = part.columns["answers"][0]
    start = answer["answer_start"][0]
    assert part.columns["context"][0][start:].startswith(answer["text"][0])
    first, second = package.load_dataset("imdb", split=["train", "test"])
    assert len(first.columns["text"]) > len(second.columns["text"])
    assert package.noted[-1] == (
        "the data set glue (mnli)", "the data set user/squad", "the data set imdb",
    )  # fmt: skip


def test_only_a_task_of_two_validation_splits_has_them(
    package: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    matched = "_".join(("validation", "matched"))  # not as one: this text is read as a script, too
    monkeypatch.setattr(hub_datasets, "sources", lambda: [f'data["{matched}"]'])
    assert matched in package.load_dataset("glue", "mnli")
    assert set(package.load_dataset("glue", "mrpc")) == {"train", "validation", "test"}


def test_a_module_of_the_users_own_is_left_alone(tmp_path: Path) -> None:
    own = SimpleNamespace(load_dataset=len)
    hub_datasets.install(own, Ledger(str(tmp_path), lambda **_: None))
    assert own.load_dataset is len
