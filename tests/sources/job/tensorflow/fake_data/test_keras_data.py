"""What Keras would download."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data import keras_data, paths
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.keras_data import KerasData


class Ledger:
    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.noted: list[str] = []

    def note(self, what: str) -> None:
        self.noted.append(what)

    def file(self, name: str, write: Callable[[str], None]) -> str:
        path = Path(self.folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(str(path))
        return str(path)


class Model:
    def load_weights(self, filepath: str) -> str:
        return f"loaded {filepath}"


def keras() -> Any:
    def load_data(**_: Any) -> str:
        raise OSError("no network")

    def get_file(*_: Any, **__: Any) -> str:
        raise OSError("no network")

    def image_dataset_from_directory(directory: str) -> str:
        return directory

    def text_dataset_from_directory(directory: str) -> str:
        return directory

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
    KerasData(made, "keras", given)
    (features, _), (others, _) = made.datasets.boston_housing.load_data()
    assert isinstance(features, Hole) and isinstance(others, Hole)
    weights = made.utils.get_file("resnet.h5", "https://example.org/resnet.h5")
    assert Path(weights).exists() and weights.startswith(str(tmp_path))
    assert Model().load_weights(weights) is None, "they stay as they were initialised"
    assert Model().load_weights("mine.h5") == "loaded mine.h5"
    surf = made.utils.get_file("surf.PNG", "https://example.org/surf.png")
    assert Path(surf).read_bytes().startswith(b"\xff\xd8"), "a picture that decodes"
    folder = made.utils.get_file("flowers.tgz", "https://example.org/flowers.tgz", untar=True)
    assert Path(folder).is_dir() and len(list(Path(folder).glob("*/*.jpg"))) >= 64
    packed = made.utils.get_file("pets.zip", "https://example.org/pets.zip", extract=True)
    assert zipfile.is_zipfile(packed), "Keras 2 gives the archive, unpacked beside it"
    assert (Path(packed).parent / "pets").is_dir()
    assert made.utils.image_dataset_from_directory("here") == "here"
    assert "keras.datasets.boston_housing" in ledger.noted


def test_a_model_that_cannot_be_drawn_here_ends_no_rehearsal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def plotted(model: str) -> str:
        if not model:
            raise ImportError("You must install pydot")
        if model == "other release":
            raise AttributeError("module 'pydot' has no attribute 'InvocationException'")
        return model

    assert keras_data.drawn(plotted, "model") == "model"
    assert keras_data.drawn(plotted, "") is None
    assert keras_data.drawn(plotted, "other release") is None
    assert "pydot" in capsys.readouterr().err


@pytest.mark.slow
def test_texts_of_an_archive_that_is_unpacked_beside_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "_unpacked", [])
    (tmp_path / "work" / "own").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    made, ledger = keras(), Ledger(tmp_path / "stand-ins")
    given: Any = ledger
    KerasData(made, "keras", given)
    made.utils.get_file(
        "a.tar.gz", "https://x.org/a.tar.gz", untar=True, cache_dir=".", cache_subdir=""
    )
    folder = made.utils.text_dataset_from_directory("reviews/train")
    texts = sorted(Path(folder).glob("*/*.txt"))
    assert len({text.parent for text in texts}) > 1 and len(texts[0].read_text().split()) > 9
    assert made.utils.text_dataset_from_directory("own") == "own"
