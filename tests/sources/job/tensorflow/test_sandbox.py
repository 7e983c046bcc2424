"""Paths of a job, and where they lie in a sandbox."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tpudiag.sources.job.tensorflow.sandbox import RemoteSandbox, Sandbox


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sandbox"


def test_what_is_written_goes_into_the_folder(folder: Path, tmp_path: Path) -> None:
    sandbox, path = Sandbox(str(folder)), str(tmp_path / "out" / "model.txt")
    place = sandbox.written(path)
    assert place == f"{folder}{path}" and Path(place).parent.is_dir()
    assert sandbox.read(path) == path and not sandbox.holds(path)
    Path(place).write_text("weights")
    assert sandbox.read(path) == place and sandbox.holds(path)
    assert sandbox.written(place) == place, "it lies there already"
    assert sandbox.original(place) == path
    assert sandbox.written("gs://bucket/run/") == f"{folder}/gs__/bucket/run/"
    assert sandbox.original(f"{folder}/gs__/bucket/run") == "gs://bucket/run"
    for other in (3, b"bytes", "/dev/null", ""):
        assert sandbox.written(other) == other


def test_a_checkpoint_is_there_by_its_index(folder: Path, tmp_path: Path) -> None:
    sandbox, path = Sandbox(str(folder)), str(tmp_path / "ckpt-1")
    Path(sandbox.written(path) + ".index").write_text("")
    assert sandbox.holds(path)


def test_files_from_before_the_job_are_not_removed(folder: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    before.write_text("kept")
    sandbox = Sandbox(str(folder))
    sandbox._started = before.stat().st_ctime + 10
    assert sandbox.removed(str(before)) == f"{folder}{before}"
    sandbox._started = before.stat().st_ctime - 10
    assert sandbox.removed(str(before)) == str(before), "a library's temporary file"


def test_arguments_are_redirected_wherever_they_stand(folder: Path) -> None:
    sandbox = Sandbox(str(folder))
    call = sandbox._argument(lambda path: f"there{path}")(1, "path")

    def given(*args: object, **kwargs: object) -> object:
        return args, kwargs

    assert call(given, "self", "/a", 3) == (("self", "there/a", 3), {})
    assert call(given, "self", path="/a") == (("self",), {"path": "there/a"})
    assert call(given, "self") == (("self",), {})


def test_first_arguments_are_redirected_by_their_names_too(folder: Path) -> None:
    sandbox = Sandbox(str(folder))
    call = sandbox.first(lambda path: f"there{path}")

    def given(*args: object, **kwargs: object) -> object:
        return args, kwargs

    assert call(given, "/a", True) == (("there/a", True), {})
    assert call(given, name="/a", exist_ok=True) == ((), {"name": "there/a", "exist_ok": True})
    assert call(given, checkpoint_dir="/a") == ((), {"checkpoint_dir": "there/a"})
    assert call(given, path="a", dir_fd=3) == ((), {"path": "a", "dir_fd": 3})
    assert call(given) == ((), {})


def test_what_is_listed_and_renamed_may_be_named(folder: Path, tmp_path: Path) -> None:
    sandbox = Sandbox(str(folder))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").touch()
    Path(sandbox.written(str(tmp_path / "data" / "b"))).touch()
    listed = sandbox._of_both_places(os.listdir, path=str(tmp_path / "data"))
    assert sorted(listed) == ["a", "b"]
    sandbox.both(os.rename, src=str(tmp_path / "data" / "b"), dst=str(tmp_path / "data" / "c"))
    assert Path(f"{folder}{tmp_path}/data/c").exists() and not (tmp_path / "data" / "c").exists()


def test_buckets_alone(folder: Path) -> None:
    sandbox = RemoteSandbox(str(folder))
    assert sandbox.written("/local/file") == "/local/file"
    assert sandbox.written("gs://bucket/a") == f"{folder}/gs__/bucket/a"
    assert sandbox.written(SimpleNamespace()) is not None


def test_folders_of_a_host_that_are_not_there(folder: Path, tmp_path: Path) -> None:
    there, away = tmp_path / "content", tmp_path / "kaggle"
    there.mkdir()
    sandbox = RemoteSandbox(str(folder), (f"{there}/", f"{away}/"))
    assert sandbox.written(f"{there}/a") == f"{there}/a"
    made = sandbox.written(f"{away}/working/model")
    assert made == f"{folder}{away}/working/model" and not away.exists()
    assert sandbox.written(str(away)) == f"{folder}{away}"
    assert sandbox.read(f"{away}/input/x.csv") == f"{away}/input/x.csv"


def test_a_model_of_transformers_is_saved_in_the_sandbox(folder: Path) -> None:
    saved: list[str] = []

    class Model:
        def save_pretrained(self, save_directory: str) -> None:
            saved.append(save_directory)

    Sandbox(str(folder)).watch_transformers(SimpleNamespace(TFPreTrainedModel=Model))
    Model().save_pretrained("/w/model")
    Model().save_pretrained(save_directory="/w/model")
    assert saved == [f"{folder}/w/model"] * 2
