"""Data sets of a hub that cannot be reached."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
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

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.columns[key]
        return {name: values[key] for name, values in self.columns.items()}

    @property
    def column_names(self) -> list[str]:
        return list(self.columns)

    @property
    def features(self) -> dict[str, Any]:
        return {name: self.classes.get(name) for name in self.columns}

    def cast_column(self, name: str, feature: Any) -> Dataset:
        made = Dataset(self.columns)
        made.classes = {**self.classes, name: len(feature.names)}
        return made

    def select_columns(self, names: list[str]) -> Dataset:
        made = Dataset({name: self.columns[name] for name in names})
        made.classes = self.classes
        return made

    def map(self, function: Any) -> Dataset:
        rows = [function(Dataset.__getitem__(self, row)) for row in range(len(self))]
        return Dataset({**self.columns, **{name: [row[name] for row in rows] for name in rows[0]}})

    def sort(self, column: str) -> Dataset:
        if column not in self.columns:
            raise ValueError(column)
        return self


def concatenate_datasets(parts: list[Dataset], axis: int) -> Dataset:
    assert axis == 1
    made = Dataset({name: values for part in parts for name, values in part.columns.items()})
    made.classes = {name: count for part in parts for name, count in part.classes.items()}
    return made


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
        concatenate_datasets=concatenate_datasets,
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


def test_columns_and_splits_are_made_when_they_are_asked_for(package: SimpleNamespace) -> None:
    glue = package.load_dataset("glue", "mnli")
    assert set(glue) == {"train", "validation", "test"}
    assert isinstance(glue["validation_matched"][3]["premise"], str)
    train = glue["train"]
    assert train.features["label"] == 2 and set(train["label"]) == {0, 1}
    mapped = train.map(lambda row: {"length": len(row["hypothesis"]) + row["label"]})
    assert len(mapped.sort("sentence")["length"]) == RECORDS
    part = package.load_dataset("user/squad", split="validation[:10%]")
    answer = part[0]["answers"]
    assert part["context"][0][answer["answer_start"][0] :].startswith(answer["text"][0])
    first, second = package.load_dataset("imdb", split=["train", "test"])
    assert len(first["text"]) > len(second["text"])
    with pytest.raises(KeyError):
        mapped.map(lambda row: {row["label"]: 0}[5])
    assert package.noted[-1] == (
        "the data set glue (mnli)", "the data set user/squad", "the data set imdb",
    )  # fmt: skip


def test_a_module_of_the_users_own_is_left_alone(tmp_path: Path) -> None:
    own = SimpleNamespace(load_dataset=len)
    hub_datasets.install(own, Ledger(str(tmp_path), lambda **_: None))
    assert own.load_dataset is len
