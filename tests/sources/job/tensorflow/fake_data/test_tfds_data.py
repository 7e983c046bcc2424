"""The splits and classes of tensorflow_datasets' mock."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
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
    builder = SimpleNamespace(info=SimpleNamespace(splits=splits))
    assert tfds_data._examples(builder, "train") == 100
    assert tfds_data._examples(builder, "empty") == FILES * RECORDS
    assert tfds_data._examples(builder, "train[:10%]") == FILES * RECORDS
    assert tfds_data._examples(SimpleNamespace(), "train") == FILES * RECORDS


def test_pictures_of_no_known_size_are_of_one() -> None:
    def leaf(rows: int, columns: int, channels: int) -> Any:
        pixels = numpy.arange(rows * columns * channels, dtype="uint8")
        picture = pixels.reshape(rows, columns, channels)
        return SimpleNamespace(dtype="uint8", numpy=lambda: picture)

    class Shape(tuple[Any, ...]):
        rank = property(len)

    spec: Any = SimpleNamespace(shape=Shape((None, None, 3)))
    assert tfds_data._of_one_size(leaf(5, 9, 3), spec).shape == (256, 256, 3)
    mask: Any = SimpleNamespace(shape=Shape((None, None, 1)))
    assert tfds_data._is_mask(mask, [spec, mask]) and not tfds_data._is_mask(mask, [mask])
    classes = tfds_data._of_one_size(leaf(5, 9, 1), mask, is_mask=True)
    assert set(numpy.unique(classes)) == {1, 2, 3}
    fixed = leaf(28, 28, 1)
    spec.shape = Shape((28, 28, 1))
    assert tfds_data._of_one_size(fixed, spec) is fixed


def test_labels_that_only_data_names_get_names() -> None:
    plain: Any = SimpleNamespace(num_classes=2, names=["0", "1"])
    named: Any = SimpleNamespace(num_classes=2, names=["cat", "dog"])
    tfds_data._name_classes({"label": plain, "kind": named})
    assert plain.names == ["class-0", "class-1"]
    assert named.names == ["cat", "dog"]


def test_a_builder_alone_is_told_as_stood_in_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    info = SimpleNamespace(splits={"train": 1}, features={})
    (tmp_path / "prepared").mkdir()

    def builder_of(name: str, **_: Any) -> Any:
        return SimpleNamespace(name=name, info=info, data_dir=tmp_path / name)

    package = SimpleNamespace(builder=builder_of, load=lambda name: name)
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
    tfds_data.install(lambda: None, package, ledger)
    package.builder("cifar10", try_gcs=True)
    package.builder(name="mnist")
    assert package.builder("prepared")._as_dataset() == "as it is", "what is there is read"
    assert told[-1]["stood_in"] == ("tfds cifar10", "tfds mnist")
    assert told[-1]["stand_in_kinds"] == ["generator"]
