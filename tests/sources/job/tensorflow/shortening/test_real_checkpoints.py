"""Checkpoints of a real run, and a rehearsal in place that saves."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.devices.tpu_stubs import NotRehearsable
from tpudiag.sources.job.tensorflow.shortening.real_checkpoints import RealCheckpoints


class Checkpoint:
    def save(self, file_prefix: str) -> None:
        Path(f"{file_prefix}-1.index").write_text("new")

    def write(self, file_prefix: str) -> None:
        Path(f"{file_prefix}.index").write_text("new")


class Manager:
    def __init__(self, directory: str) -> None:
        self.directory = directory

    def save(self) -> None:
        Path(self.directory, "ckpt-2.index").write_text("new")


def save(model: Any, export_dir: str) -> None:
    Path(export_dir, "saved_model.pb").write_text(model)


@pytest.fixture
def tf(as_tensorflow: Callable[[Any], None]) -> Any:
    train = SimpleNamespace(
        Checkpoint=type("Checkpoint", (Checkpoint,), {}),
        CheckpointManager=type("Manager", (Manager,), {}),
    )
    made = SimpleNamespace(train=train, saved_model=SimpleNamespace(save=save))
    as_tensorflow(made)
    RealCheckpoints()
    return made


def test_nothing_is_saved_beside_older_checkpoints(tmp_path: Path, tf: Any) -> None:
    old = tmp_path / "model" / "ckpt-3500.index"
    old.parent.mkdir()
    old.write_text("of the real run")
    os.utime(old, (1, 1))
    calls: tuple[Callable[[], object], ...] = (
        lambda: tf.train.Checkpoint().save(str(tmp_path / "model" / "ckpt")),
        lambda: tf.train.Checkpoint().write(file_prefix=tmp_path / "model" / "ckpt"),
        lambda: tf.train.CheckpointManager(str(old.parent)).save(),
        lambda: tf.saved_model.save("m", str(old.parent)),
    )
    for saves in calls:
        with pytest.raises(NotRehearsable, match=r"ckpt-3500\.index is older"):
            saves()
    assert [path.name for path in old.parent.iterdir()] == ["ckpt-3500.index"]


def test_its_own_checkpoints_are_no_real_ones(tmp_path: Path, tf: Any) -> None:
    (tmp_path / "notes.txt").write_text("older, and no checkpoint")
    os.utime(tmp_path / "notes.txt", (1, 1))
    tf.train.Checkpoint().save(str(tmp_path / "ckpt"))
    tf.train.CheckpointManager(str(tmp_path)).save()
    assert len(list(tmp_path.glob("*.index"))) == 2
