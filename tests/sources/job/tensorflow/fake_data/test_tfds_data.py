"""The splits and classes of tensorflow_datasets' mock."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data import tfds_data
from tpudiag.sources.job.tensorflow.fake_data.ledger import FILES, RECORDS, Ledger


def test_files_of_a_split_hold_all_its_examples() -> None:
    for examples in (1, RECORDS, 60_000, 1_281_167):
        shards = tfds_data._shards(examples)
        assert sum(shards) == examples
        assert max(shards) - min(shards) <= 1 and len(shards) <= FILES


def test_examples_of_a_split_or_what_is_taken_for_it() -> None:
    splits = {"train": SimpleNamespace(num_examples=100), "empty": SimpleNamespace(num_examples=0)}
    builder: Any = SimpleNamespace(info=SimpleNamespace(splits=splits))
    assert tfds_data._examples(builder, "train") == 100
    assert tfds_data._examples(builder, "empty") == FILES * RECORDS
    assert tfds_data._examples(builder, "train[:10%]") == FILES * RECORDS
    del builder.info
    assert tfds_data._examples(builder, "train") == FILES * RECORDS


class Builder:
    """As the package's."""

    def __init__(self, name: str, data_dir: Path) -> None:
        self.name, self.data_dir = name, data_dir / name
        self.info = SimpleNamespace(splits={"train": 1}, features={})

    def download_and_prepare(self) -> str:
        return "prepared"

    def as_dataset(self, split: object = None, **_: object) -> object:
        return f"the real {split}"

    as_data_source = as_dataset


def test_what_was_not_prepared_is_answered_by_the_mock_and_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def builder(name: str) -> Builder:
        return Builder(name, tmp_path)

    @contextlib.contextmanager
    def mocked(num_examples: int, policy: str) -> Generator[None]:
        mock = f"{num_examples} by {policy}"
        real, Builder.as_data_source = Builder.as_data_source, lambda *_, **__: mock
        yield
        Builder.as_data_source = real

    (tmp_path / "kept").mkdir()
    package: Any = SimpleNamespace(builder=builder, load=builder)
    testing = SimpleNamespace(mock_data=mocked, MockPolicy=SimpleNamespace(USE_CODE="code"))
    for name, module in (
        ("testing", testing),
        ("core", SimpleNamespace()),
        ("core.dataset_builder", SimpleNamespace(DatasetBuilder=Builder)),
        ("core.load", SimpleNamespace(builder=builder, load=builder)),
    ):
        monkeypatch.setitem(sys.modules, f"tensorflow_datasets.{name}", module)
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", package)
    told: list[Any] = []
    ledger = Ledger(str(tmp_path), lambda **facts: told.append(facts))

    def not_imported() -> Any:
        raise AssertionError("a job may read by place and have no TensorFlow")

    tfds_data.install(not_imported, package, ledger)
    away, kept = package.builder("cifar10", try_gcs=True), package.load("kept")
    assert kept.as_dataset("train") == "the real train", "what is there is read"
    assert kept.download_and_prepare() == "prepared" and away.download_and_prepare() is None
    assert away.as_data_source("train") == f"{FILES * RECORDS} by code", "all of a split"
    assert told[-1]["stood_in"] == ("tfds cifar10",)
    assert told[-1]["stand_in_kinds"] == ["generator"]
