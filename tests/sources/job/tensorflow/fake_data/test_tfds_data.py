"""The splits and classes of tensorflow_datasets' mock."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

import contextlib
import sys
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


def test_a_builder_alone_is_told_as_stood_in_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    info = SimpleNamespace(splits={"train": 1}, features={})
    (tmp_path / "prepared").mkdir()

    def builder_of(name: str, **_: Any) -> Any:
        return SimpleNamespace(name=name, info=info, data_dir=tmp_path / name)

    package: Any = SimpleNamespace(builder=builder_of, load=lambda name: name)
    mock = contextlib.nullcontext
    testing = SimpleNamespace(
        mock_data=lambda **_: mock(), MockPolicy=SimpleNamespace(USE_CODE="code")
    )
    reader = type("FileReaderBuilder", (), {"_as_dataset": lambda *_: "as it is"})
    for name, module in (
        ("testing", testing),
        ("core", SimpleNamespace()),
        (
            "core.dataset_builder",
            SimpleNamespace(
                FileReaderBuilder=reader,
                DatasetBuilder=type(
                    "DatasetBuilder", (), {"download_and_prepare": len, "as_dataset": len}
                ),
            ),
        ),
        ("core.read_only_builder", SimpleNamespace(builder_from_files=None)),
        ("core.load", SimpleNamespace(builder=package.builder, load=package.load)),
    ):
        monkeypatch.setitem(sys.modules, f"tensorflow_datasets.{name}", module)
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", package)
    told: list[Any] = []
    ledger = Ledger(str(tmp_path), lambda **facts: told.append(facts))
    tfds_data.install(lambda: package, package, ledger)
    package.builder("cifar10", try_gcs=True)
    package.builder(name="mnist")
    assert package.builder("prepared")._as_dataset() == "as it is", "what is there is read"
    assert told[-1]["stood_in"] == ("tfds cifar10", "tfds mnist")
    assert told[-1]["stand_in_kinds"] == ["generator"]
