"""Generators of pictures whose folders are not there."""

from __future__ import annotations

import sys
from collections import UserDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data import generators
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger

pytestmark = pytest.mark.slow

FOLDER = "/kaggle/input/scans/train"


class Column(list[Any]):
    """A column of a table."""

    @property
    def iloc(self) -> Column:
        return self

    def astype(self, kind: type) -> Column:
        return Column(map(kind, self))


class Table(UserDict[str, Column]):
    """A table as pandas has it, as far as it is asked for."""

    def __len__(self) -> int:
        return len(next(iter(self.values())))

    def assign(self, **columns: Column) -> Table:
        return Table({**self, **columns})


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A Keras whose generator keeps what it is asked for."""

    class ImageDataGenerator:
        def flow_from_directory(self, directory: str, **_: Any) -> str:
            return directory

        def flow_from_dataframe(self, dataframe: Table, directory: str, *_: Any, **kw: Any) -> Any:
            names = [f"{directory}/{name}" for name in dataframe["file"]]
            return SimpleNamespace(_filepaths=names, table=dataframe, asked=kw)

    things: list[tuple[str, ...]] = []

    def put(*, stood_in: tuple[str, ...], **_: object) -> None:
        things.append(stood_in)

    home = SimpleNamespace(ImageDataGenerator=ImageDataGenerator)
    monkeypatch.setitem(sys.modules, "keras.preprocessing.image", home)
    generators.install("keras", Ledger(str(tmp_path), put))
    return SimpleNamespace(generator=ImageDataGenerator(), things=things)


def test_a_folder_that_is_not_there_has_pictures_of_each_class(made: SimpleNamespace) -> None:
    folder = Path(made.generator.flow_from_directory(FOLDER, classes=["ill", "well"]))
    assert [len(list((folder / label).iterdir())) for label in ("ill", "well")] == [512, 512]
    assert FOLDER in made.things[-1][0]


def test_a_folder_that_is_there_is_taken(made: SimpleNamespace, tmp_path: Path) -> None:
    assert made.generator.flow_from_directory(str(tmp_path)) == str(tmp_path)
    assert not made.things


def test_the_rows_of_a_table_get_pictures_and_their_classes_names(made: SimpleNamespace) -> None:
    table = Table(file=Column(["a.jpg", "b.jpg"]), label=Column([0, 1]))
    flow = made.generator.flow_from_dataframe(table, FOLDER, x_col="file", y_col="label")
    assert len(flow._filepaths) == 2
    assert all(Path(path).is_file() for path in flow._filepaths)
    assert flow.table["label"] == ["0", "1"]
    assert flow.asked["validate_filenames"] is False


@pytest.mark.parametrize(("mode", "labels"), [("categorical", ["0", "1"]), ("raw", [0, 1])])
def test_labels_are_named_for_the_modes_that_want_names(
    made: SimpleNamespace, mode: str, labels: list[Any]
) -> None:
    table = Table(file=Column(["a.jpg", "b.jpg"]), label=Column([0, 1]))
    before = ("file", "label", None, (64, 64), "rgb", None)
    flow = made.generator.flow_from_dataframe(table, FOLDER, *before, mode)
    assert flow.table["label"] == labels
