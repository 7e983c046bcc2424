"""Builders of tensorflow_datasets without data."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.points import barrier, hooks
from tpudiag.sources.job.tensorflow.fake_data import paths, tfds_data
from tpudiag.sources.job.tensorflow.fake_data.ledger import FEWEST_RECORDS, FILES, RECORDS, Ledger


@dataclass(frozen=True)
class Template:
    """Of names of files."""

    dataset_name: str
    data_dir: str
    filetype_suffix: str
    split: str = ""

    def replace(self, **changed: str) -> Template:
        return replace(self, **changed)


class SplitDict(dict[str, Any]):
    """As the package's."""

    def __init__(self, splits: list[Any]) -> None:
        super().__init__({each.name: each for each in splits})

    def __getitem__(self, key: str) -> Any:
        name, _, part = key.partition("[")
        if part == ":50000]":
            raise ValueError("Requested slice [:50000] incompatible with 6000 examples.")
        return super().__getitem__(name)


class Info(SimpleNamespace):
    """As the package's."""

    def set_splits(self, splits: SplitDict) -> None:
        self.splits = splits


class Builder:
    """As the package's."""

    def __init__(self, name: str, data_dir: Path) -> None:
        self.name, self._data_dir = name, str(data_dir / name)
        shape = (32, 32, 3) if name == "cifar10" else (None, None, 3)
        specs = [SimpleNamespace(shape=shape, dtype=SimpleNamespace(size=1))]
        features = SimpleNamespace(get_tensor_spec=lambda: specs)
        self.info = Info(splits=SplitDict([]), full_name=f"{name}/1.0", features=features)

    @property
    def data_dir(self) -> str:
        return self._data_dir

    def as_dataset(self, split: str | None = None) -> Any:
        infos = self.info.splits
        return {each: infos[each] for each in infos} if split is None else infos[split]

    def as_data_source(self, split: str) -> str:
        return f"the real {split}"


def test_a_builder_without_data_has_a_folder_and_whatever_split_is_asked_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def builder(name: str) -> Builder:
        return Builder(name, tmp_path / "data")

    core: Any = SimpleNamespace(SplitInfo=SimpleNamespace, ShardedFileTemplate=Template)
    package: Any = SimpleNamespace(builder=builder, load=builder, core=core)
    for name, module in (
        ("core", core),
        ("core.dataset_builder", SimpleNamespace(DatasetBuilder=Builder)),
        ("core.load", SimpleNamespace(builder=builder, load=builder)),
        ("core.splits", SimpleNamespace(SplitDict=SplitDict)),
    ):
        monkeypatch.setitem(sys.modules, f"tensorflow_datasets.{name}", module)
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", package)
    flat = SimpleNamespace(nest=SimpleNamespace(flatten=list))
    monkeypatch.setitem(sys.modules, "tensorflow", flat)
    (tmp_path / "data/kept").mkdir(parents=True)
    told: dict[str, Any] = {}
    ledger = Ledger(str(tmp_path / "made"), told.update)
    tfds_data.install(package, ledger)

    kept = package.builder("kept", try_gcs=True)
    assert kept.data_dir == str(tmp_path / "data/kept") and not kept.info.splits
    assert kept.as_data_source("train") == "the real train"
    away = package.load("cifar10", data_dir="gs://nowhere/tfds")
    assert Path(away.data_dir).is_dir() and not list(Path(away.data_dir).iterdir())
    assert paths.is_hosted(f"{away.data_dir}/cifar10-train.tfrecord"), "its files are stood in for"
    assert told == {"stood_in": ("tfds cifar10",), "stand_in_kinds": ["data"]}
    for part in ("train[:9]", "train[:50000]"):
        assert away.as_dataset(part).shard_lengths == [RECORDS] * FILES
    assert away.as_dataset("trainA").filename_template.split == "trainA", "its own names"
    assert ledger.expect(1) == RECORDS, "as long as was said"
    large = Ledger(str(tmp_path / "large"), told.update)
    hooks.undo()
    tfds_data.install(package, large)
    pictures = package.load("flowers").as_dataset("train").shard_lengths
    assert pictures == [FEWEST_RECORDS] * FILES, "all of them as one array are no burden"
    hooks.undo()
    barrier.forget()
    for name in [each for each in sys.modules if each.startswith("tensorflow_datasets.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", empty := ModuleType("empty"))
    tfds_data.install(empty, large)
    assert not barrier.defects(), "a package that fails to be imported is no defect of ours"
