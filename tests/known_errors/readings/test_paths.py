"""What the form of a missing path tells."""

from __future__ import annotations

import pytest

from tpudiag.known_errors.readings.paths import read


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/content/drive/MyDrive/a.csv", "drive.mount"),
        ("/kaggle/input/set/a.csv", "attached to this notebook"),
        ("gs://mine/a", "gcloud storage ls 'gs://mine/a*'"),
        ("gs:/mine/a", "one slash too few"),
        ("C:\\data\\a.txt", "Windows"),
        ("~/data/a.txt", "expanduser"),
        ("/path/to/data", "placeholder"),
        ("/home/ann/a.txt;", "ls -ld '/home/ann/a.txt'"),
        ("data/a.txt", "relative"),
    ],
)
def test_path_tells_whose_it_is(path: str, words: str) -> None:
    reading = read("file-missing", {"file": path}, "")
    assert reading is not None and words in f"{reading.cause} {reading.fix}"


def test_a_whole_path_is_not_called_relative() -> None:
    reading = read("file-missing", {"file": "/tmp/out/results.json"}, "")
    assert reading is None or "relative" not in reading.cause


def test_worker_of_a_tpu_node_sees_no_path_at_all() -> None:
    assert read("local-files", {"file": "data/a.txt"}, "") is None
    assert read("file-missing", {}, "") is None
