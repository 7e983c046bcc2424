"""Which paths are away, and the names that a pattern is answered with."""

import fnmatch
import re
from pathlib import Path

import pytest

from tpudiag.sources.job.tensorflow.fake_data import paths


@pytest.mark.parametrize(
    "pattern",
    [
        "gs://bucket/train/*.tfrec",
        "gs://bucket/train-*",
        "gs://bucket/train-?????-of-00128",
        "gs://bucket/train*/part_*.tfrecord",
        "gs://bucket/images/*/*.jpg",
        "gs://bucket/[ab].csv",
        "gs://bucket/whole.tfrecord",
    ],
)
def test_names_match_their_pattern(pattern: str) -> None:
    names = paths.matching(pattern)
    assert names
    assert len(set(names)) == len(names)
    assert all(fnmatch.fnmatchcase(name, pattern.replace("[ab]", "?")) for name in names)


@pytest.mark.parametrize("pattern", ["*.tfrec", "train*-*.tfrec", "*-*.tfrec"])
def test_the_number_of_records_can_be_read_off_a_name(pattern: str) -> None:
    names = paths.matching(f"gs://bucket/{pattern}")
    numbers = [re.findall(r"-([0-9]*)\.", name) for name in names]
    assert numbers == [["512"]] * len(set(names))


def test_what_is_there_is_not_away(tmp_path: Path) -> None:
    file = tmp_path / "a.tfrecord"
    assert paths.is_absent(str(file))
    assert paths.is_absent(file)
    file.touch()
    assert not paths.is_absent(str(file))
    assert not paths.is_absent(str(tmp_path / "model"))
    assert paths.is_absent("gs://bucket/anything")
    assert not paths.is_absent(None)


def test_names_of_pictures_are_numbers_in_whole_and_in_part() -> None:
    names = paths.matching("../input/tiles/train/*_0.png")
    assert (len(names), names[1]) == (1024, "../input/tiles/train/1_1_1_00001_0.png")
    assert len(paths.matching("gs://bucket/*/*.jpeg")) == 2 * 512


def test_a_folder_of_a_host_that_holds_one_set_of_data_lacks_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "input" / "mine").mkdir(parents=True)
    (tmp_path / "input" / "mine" / "a.jpg").touch()
    (tmp_path / "working").mkdir()
    monkeypatch.chdir(tmp_path / "working")
    assert [paths.is_hosted(f"../input/{of}/a.jpg") for of in ("mine", "others")] == [False, True]


def test_a_bucket_that_answers_is_not_stood_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def exists(path: str) -> bool:
        asked.append(path)
        return path == "gs://mine/"

    monkeypatch.setattr(paths, "_has_storage", lambda: True)
    monkeypatch.setattr(paths, "_buckets", {})
    monkeypatch.setattr(paths, "_asked", {"exists": exists})
    assert not paths.is_remote("gs://mine/a.tfrec") and not paths.is_remote("gs://mine/b/c.tfrec")
    assert paths.is_remote("gs://others/a.tfrec") and paths.is_remote("s3://mine/a.tfrec")
    assert asked == ["gs://mine/", "gs://others/"], "once a bucket"
