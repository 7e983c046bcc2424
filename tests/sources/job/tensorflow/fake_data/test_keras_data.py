"""What Keras would download."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.job.points import hooks
from tpudiag.sources.job.tensorflow.fake_data import holes, keras_data, paths
from tpudiag.sources.job.tensorflow.fake_data.files import Files
from tpudiag.sources.job.tensorflow.fake_data.hole_sizes import LENGTH
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole


class Ledger:
    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.noted: list[str] = []

    def note(self, what: str) -> None:
        self.noted.append(what)


class Model:
    def load_weights(self, filepath: object) -> str:
        return f"loaded {filepath}"


def keras() -> Any:
    def load_data(**_: Any) -> str:
        raise OSError("no network")

    def get_file(*_: Any, **__: Any) -> str:
        raise OSError("no network")

    def image_dataset_from_directory(directory: str, **_: Any) -> str:
        return directory

    text_dataset_from_directory = image_dataset_from_directory

    return SimpleNamespace(
        datasets=SimpleNamespace(
            boston_housing=SimpleNamespace(load_data=load_data), mnist=None, imdb=None
        ),
        utils=SimpleNamespace(
            get_file=get_file,
            image_dataset_from_directory=image_dataset_from_directory,
            text_dataset_from_directory=text_dataset_from_directory,
        ),
        Model=Model,
    )


@pytest.mark.slow
def test_data_files_and_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda _: str(tmp_path / "nothing"))
    made, ledger = keras(), Ledger(tmp_path)
    given: Any = ledger
    monkeypatch.setattr(paths, "_fetched", [])
    keras_data.install(made, given)
    Files(given, lambda _: False).watch_keras(made)
    (features, _), (others, _) = made.datasets.boston_housing.load_data()
    assert isinstance(features, Hole) and isinstance(others, Hole)
    weights = made.utils.get_file("resnet.h5", "https://example.org/resnet.h5")
    assert weights.startswith(str(tmp_path)) and paths.is_hosted(weights)
    status: Any = Model().load_weights(weights)
    assert isinstance(status, Hole), "they stay as they were initialised"
    monkeypatch.setattr(paths, "in_vain", {})
    assert Model().load_weights(None) == "loaded None"
    monkeypatch.setattr(paths, "in_vain", {test_data_files_and_weights.__code__: 1})
    assert isinstance(Model().load_weights(None), Hole), "of a checkpoint asked for in vain"
    assert Model().load_weights("mine.h5") == "loaded mine.h5"
    batches = made.utils.image_dataset_from_directory("10_food/train", batch_size=64)
    assert holes.batch_of(batches.map(len)) == 64
    assert len(batches) == -(-LENGTH // 64) and len(next(iter(batches))) != len(batches)
    assert made.utils.image_dataset_from_directory("here") == "here"
    assert "keras.datasets.boston_housing" in ledger.noted


def test_pictures_of_torchvision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class MNIST:
        def __init__(self, root: str, train: bool = True) -> None:
            self.train = train
            if not Path(root).exists():
                raise RuntimeError("Error downloading: <urlopen error [Errno -2]>")

    class CIFAR10(MNIST):
        pass

    class CIFAR100(CIFAR10):
        pass

    there: Any = {"MNIST": MNIST, "CIFAR10": CIFAR10}
    for name in ("torchvision", "torchvision.datasets", "torch"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(as_tensor=np.asarray, **there))
    ledger: Any = Ledger(tmp_path)
    keras_data.of_torchvision(ledger, sys)
    digits, pictures = MNIST("/nowhere", train=False), CIFAR100("/nowhere")
    hooks.undo()
    data: Any = [vars(digits), vars(pictures)]
    assert [each["data"].shape for each in data] == [(10000, 28, 28), (50000, 32, 32, 3)]
    assert max(data[1]["targets"]) == len(data[1]["classes"]) - 1 == 99
    assert ledger.noted == ["torchvision.datasets.MNIST", "torchvision.datasets.CIFAR100"]
    assert "data" not in vars(MNIST(str(tmp_path)))


def test_what_a_data_set_of_the_scripts_own_cannot_read_is_a_hole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loader:  # and what fetches for it
        def __init__(self, dataset: Any, num_workers: int = 0, **_: Any) -> None:
            self.dataset, self.workers = dataset, num_workers

        def fetch(self, at: list[int]) -> object:
            return [self.dataset[each] for each in at]

    class Absent:
        def __getitem__(self, at: int) -> str:
            return Path(f"/nowhere/{at}").read_text()

    fetch: Any = SimpleNamespace(_MapDatasetFetcher=Loader)
    data = SimpleNamespace(DataLoader=Loader, _utils=SimpleNamespace(fetch=fetch))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(utils=SimpleNamespace(data=data)))
    ledger: Any = Ledger(tmp_path)
    keras_data.of_torch(ledger, sys)
    sets: tuple[Any, ...] = [5, 6], Absent(), {}
    there, absent, wrong = (Loader(each, num_workers=4) for each in sets)
    assert [there.workers, absent.workers, wrong.workers] == [4, 0, 4]
    assert there.fetch([1]) == [6] and ledger.noted == []
    assert holes.batch_of(absent.fetch([0] * 8)) == 8 and ledger.noted
    with pytest.raises(KeyError):
        wrong.fetch([0])
    hooks.undo()
