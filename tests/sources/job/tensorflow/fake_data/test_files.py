"""Paths that are not there: folders that a notebook host mounts, arrays in files."""

import glob
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.points import hooks
from tpudiag.sources.job.tensorflow.fake_data import missing_data_errors
from tpudiag.sources.job.tensorflow.fake_data.files import Files
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.install import FakeData
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger


def test_paths_of_a_notebook_host_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name in (
        (os, "listdir"), (os, "walk"), (glob, "glob"),
        (Path, "glob"), (Path, "rglob"), (Path, "iterdir"), (Path, "is_dir"), (os.path, "isdir"),
        (Path, "is_file"), (Path, "exists"), (os.path, "isfile"), (os.path, "exists"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, getattr(owner, name))
    things: list[tuple[str, ...]] = []

    def put(*, stood_in: tuple[str, ...], **_: object) -> None:
        things.append(stood_in)

    Files(Ledger(str(tmp_path), put), lambda _: False)
    (tmp_path / "mine.txt").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert [path.name for path in tmp_path.glob("*")] == ["mine.txt"]
    for folder in ("input/mine", "working"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "working")
    assert glob.glob("../input/mine/*.csv") == [], "a folder that is there"  # noqa: PTH207
    assert len(glob.glob("../input/others/*.csv")) > 1  # noqa: PTH207
    scans = Path("../input/scans")
    files = list(scans.glob("*/*.jpeg"))
    assert len(files) == 1024
    assert {str(file.parent) for file in files} == {f"{scans}/0_0", f"{scans}/1_1"}
    folders = [path.name for path in scans.iterdir() if path.is_dir()]
    assert folders == ["0_0", "1_1"] and os.path.isdir(f"{scans}/0_0")  # noqa: PTH112
    asked = [f"/content/{name}" for name in ("masks/1.png", "masks/1.h5", "1.png")]
    asked.append("/gcs/bucket/epochs.csv")
    assert [os.path.isfile(each) for each in asked] == [True, *[False] * 3]  # noqa: PTH113
    assert Path(asked[0]).exists() and not Path(asked[2]).is_file()
    with pytest.raises(AssertionError) as raised:
        assert os.path.exists("nowhere/train")  # noqa: PTH110
    assert missing_data_errors.is_absent(raised.value), "the script tells it in its own words"
    library: dict[str, Any] = {}
    text = "import os\ndef there(x): return os.path.exists(x)\ndef heard(x): there(x), x.go"
    exec(compile(text, pytest.__file__, "exec"), library)
    for name, told in (("any words", False), ("../input/songs/1.mp3", True)):
        with pytest.raises(AttributeError) as raised_by:
            library["heard"](name)
        assert missing_data_errors.is_absent(raised_by.value) is told
    sounds = [name for name in os.listdir(scans) if name.endswith(".wav")]  # noqa: PTH208
    assert len(sounds) == 1024, "they end as the script asks"
    assert {int(name.split("_")[0]) for name in sounds} == {0, 1} and int(sounds[1][:-4]) > 1
    assert len(os.listdir(scans)) == 1026  # noqa: PTH208
    assert [name for name, _, _ in os.walk(str(scans))][1:] == [
        f"{scans}/0_0",
        f"{scans}/1_1",
    ]
    hole: Any = Hole()
    assert isinstance(glob.glob(hole), Hole)  # noqa: PTH207
    local = [*(tmp_path / "none").glob("*.csv")], [*(tmp_path / "none").glob("*")]
    assert len(local[0]) > 1 and not local[1], "a folder that a job may write"
    assert len(things[-1]) == 5


def test_a_picture_that_is_not_there_is_opened(tmp_path: Path) -> None:
    image: Any = pytest.importorskip("PIL.Image")
    image.new("L", (2, 3)).save(tmp_path / "mine.png")
    told = dict[str, object]()
    Files(Ledger(str(tmp_path / "made"), told.update), lambda _: False).watch_pillow(image)
    try:
        assert image.open(tmp_path / "mine.png").size == (2, 3)
        assert image.open(tmp_path / "roses/1.jpg").convert("RGB").mode == "RGB"
        with pytest.raises(FileNotFoundError):
            image.open(tmp_path / "no_data")
        assert told["stood_in"] == (f"{tmp_path}/roses/1.jpg",)
    finally:
        hooks.undo()


def test_a_picture_that_opencv_would_read_and_a_loader_whose_processes_know_of_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class DataLoader:
        def __init__(self, worker_count: int = 2) -> None:
            self.workers = worker_count

    def imread(*_: object) -> None:
        """Nothing is there."""

    cv2: Any = SimpleNamespace(imread=imread)
    grain = SimpleNamespace(DataLoader=DataLoader)
    for name, module in {"cv2": cv2, "grain": grain, "grain.python": grain}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    data = FakeData(str(tmp_path), dict[str, object]().update, lambda _: False)
    try:
        for name in ("cv2", "grain.python"):
            data.by_module()[name](sys.modules[name])
        real = DataLoader(), cv2.imread("/none")
        assert cv2.imread("/a/1.png", 0).ndim == 2 and cv2.imread("/a/1.jpg").shape[2:] == (3,)
        assert (real[0].workers, real[1], DataLoader().workers) == (2, None, 0)
    finally:
        hooks.undo()


def test_an_array_of_a_file_takes_its_dtype_and_the_shape_that_is_asked(tmp_path: Path) -> None:
    np: Any = pytest.importorskip("numpy")
    noted: list[Any] = []

    def put(**facts: object) -> None:
        noted.append(facts)

    files = Files(Ledger(str(tmp_path), put), lambda _: False)
    files.watch_numpy(np)
    try:
        tokens = np.memmap(str(tmp_path / "train.bin"), dtype=np.uint16, mode="r")
        assert tokens.dtype == np.uint16 and tokens[7 : 7 + 1024].astype("int64").shape == (1024,)
        pictures = np.memmap("/kaggle/input/x.bin", dtype="float32")
        assert pictures.reshape(-1, 28, 28, 3).shape[1:] == (28, 28, 3)
        told = np.memmap("../input/y.dat", "uint8", "r", shape=(10**9, 3000))
        assert told.shape == (10**9, 3000), "it takes no memory"
        own = np.memmap(str(tmp_path / "own.bin"), dtype="uint8", mode="w+", shape=(4,))
        assert isinstance(own, np.memmap)
        assert isinstance(np.array(Hole()), Hole) and len(np.asarray([Hole(), Hole()])) == 2
    finally:
        hooks.undo()
    assert len(noted[-1]["stood_in"]) == 3


@pytest.mark.slow
def test_a_table_is_one_whatever_its_file_is_called(tmp_path: Path) -> None:
    pd: Any = pytest.importorskip("pandas")
    (tmp_path / "own.data").write_text("7,8\n")

    def put(**_: object) -> None:
        """Nothing is looked at."""

    Files(Ledger(str(tmp_path), put), lambda path: "lost" in str(path)).watch_pandas(pd)
    try:
        assert pd.read_csv(str(tmp_path / "own.data"), header=None).shape == (1, 2)
        table = pd.read_csv(str(tmp_path / "adult.data"), header=None, names=["age", "fnlwgt"])
        assert table.shape[1] == 2
        hole: Any = Hole()
        assert len(pd.read_csv(filepath_or_buffer=hole)["age"]) > 100
        with pytest.raises(IsADirectoryError):
            pd.read_csv(str(tmp_path))
        with pytest.raises(OSError, match="lost"):
            pd.read_csv(str(tmp_path / "lost.data"))  # the job's own, which it has not written
    finally:
        hooks.undo()
