"""The splits and classes of tensorflow_datasets' mock."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.job.tensorflow.fake_data import tfds_data
from tpudiag.sources.job.tensorflow.fake_data.ledger import FILES, RECORDS, Ledger


def test_examples_of_a_split_or_what_is_taken_for_it() -> None:
    splits = {"train": SimpleNamespace(num_examples=100), "empty": SimpleNamespace(num_examples=0)}
    builder: Any = SimpleNamespace(info=SimpleNamespace(splits=splits))
    assert tfds_data._examples(builder, "train") == 100
    assert tfds_data._examples(builder, "empty") == FILES * RECORDS
    assert tfds_data._examples(builder, "train[:10%]") == FILES * RECORDS
    del builder.info
    assert tfds_data._examples(builder, "train") == FILES * RECORDS


def test_boxes_and_labels_of_an_example_are_as_many() -> None:
    drawn = tfds_data._OneLength(np.random.default_rng(0))
    boxes, labels = drawn.integers(low=5, high=50), drawn.integers(low=5, high=50)
    assert boxes == labels and 5 <= boxes < 50
    assert len(set(drawn.integers(0, 255, size=(4, boxes)).reshape(-1))) > 1
    assert drawn.random(size=3).shape == (3,)


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


PROGRAM = """
import contextlib, json, sys, tempfile
from types import ModuleType, SimpleNamespace as Space
import tensorflow as tf
from tpudiag.sources.job.tensorflow.fake_data import tfds_data
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger

class Builder:
    def __init__(self):
        self.name, self.data_dir = "cycle_gan", "/nowhere"
        self.info = Space(splits={"train": Space(num_examples=100), "test": Space(num_examples=9)})
    def download_and_prepare(self):
        raise OSError("it would fetch")
    def as_dataset(self, split=None, batch_size=None):
        assert mocks and isinstance(split, str), "the mock is asked for one split at a time"
        def made():
            for side in [2, 3, 4, 5] * 16:
                yield {"image": tf.ones([side, side, 3], tf.uint8), "label": side}
        image, label = tf.TensorSpec([None, None, 3], tf.uint8), tf.TensorSpec([], tf.int64)
        spec = {"image": image, "label": label}
        made = tf.data.Dataset.from_generator(made, output_signature=spec)
        return made.padded_batch(batch_size) if batch_size else made
    as_data_source = as_dataset

mocks = []
@contextlib.contextmanager
def mock_data(**_):
    mocks.append(1)
    yield
    mocks.clear()

given = {"testing": {"mock_data": mock_data, "MockPolicy": Space(USE_CODE=1)}, "core": {},
         "core.dataset_builder": {"DatasetBuilder": Builder},
         "core.load": {"builder": Builder, "load": Builder}}
for name, members in given.items():
    module = sys.modules["tensorflow_datasets." + name] = ModuleType(name)
    vars(module).update(members)
package = sys.modules["tensorflow_datasets"] = ModuleType("tensorflow_datasets")
package.builder = package.load = Builder
tfds_data.install(lambda: tf, package, Ledger(tempfile.mkdtemp(), lambda **_: None))
builder = Builder()
seen = {"all": builder.as_dataset(), "one": builder.as_dataset("train"),
        "list": builder.as_dataset(split=["train", "test"]), "pair": builder.as_dataset(("test",)),
        "named": builder.as_dataset({"x": "test"}),
        "batches": builder.as_dataset("train", batch_size=32)}
known = {**seen, "all": dict(seen["all"])}
sizes = tf.nest.map_structure(lambda data: int(data.cardinality()), known)
sides = [int(row["image"].shape[0]) for row in seen["one"]]
other = int(seen["all"]["trainA"].cardinality())
print(json.dumps({"sizes": sizes, "sides": [len(sides), sorted(set(sides))],
                  "other": other, "kept": "trainA" in seen["all"],
                  "spec": seen["one"].element_spec["image"].shape.as_list()}))
"""


@pytest.mark.slow
def test_each_way_to_ask_for_splits_is_answered(in_tensorflow: Callable[[str], Any]) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["sizes"] == {
        "all": {"train": 100, "test": 9},
        "one": 100,
        "list": [100, 9],
        "pair": [9],
        "named": {"x": 9},
        "batches": 4,
    }
    assert seen["sides"] == [100, [2, 3, 4, 5]] and seen["spec"] == [None, None, 3]
    assert seen["other"] == FILES * RECORDS and seen["kept"], "the data's own names of splits"
