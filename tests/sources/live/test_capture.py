"""Captures over the wire from profiler services of our own making: old, slow, odd, many."""

import threading
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.sources.live.profiler_service import EMPTY, SPACE, Profile, response, served
from tpudiag.errors import UsageError
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.capture import Capture, CaptureRequest, capture
from tpudiag.sources.live.probe import probe_all
from tpudiag.sources.live.run_folder import run_folder
from tpudiag.sources.profile import facts
from tpudiag.sources.profile.schema import parsed

WISH = CaptureRequest(0.01, 20.0)


def writing(space: bytes) -> Profile:
    """As TensorFlow before 2.21: repository_root/session_id/host_name.xplane.pb."""

    def profile(request: bytes) -> bytes:
        asked = parsed("ProfileRequest", request)
        folder = f"{asked.repository_root}/{asked.session_id}"
        files: Any = import_module("fsspec.core").url_to_fs(folder)[0]
        files.makedirs(folder)
        files.pipe_file(f"{folder}/{asked.host_name}.xplane.pb", space)
        return b""

    return profile


def taken(
    folder: Path | str, addresses: list[Address], wish: CaptureRequest = WISH
) -> tuple[Capture, ...]:
    with run_folder(str(folder)) as run:
        captures, interrupted = capture(probe_all(addresses, 5.0), wish, run)
    assert not interrupted
    return captures


def left(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("old", [False, True])
def test_the_profile_is_kept_whole(tmp_path: Path, old: bool) -> None:
    with served(writing(SPACE) if old else lambda _: response(SPACE), old) as address:
        (done,) = taken(tmp_path, [address])
    assert done.fault is None
    assert done.file == f"localhost_{address.port}.xplane.pb"
    assert left(tmp_path) == [done.file]
    assert next(tmp_path.rglob("*.pb")).read_bytes() == SPACE
    assert facts(tmp_path)[0].hosts == (f"localhost_{address.port}",)
    assert list(tmp_path.rglob("tpudiag-*")) == []


@pytest.mark.parametrize("old", [False, True])
def test_a_log_folder_behind_a_url(old: bool) -> None:
    url = f"memory://bucket-{old}/logs"
    with served(writing(SPACE) if old else lambda _: response(SPACE), old) as address:
        (done,) = taken(url, [address])
    assert done.fault is None
    assert facts(url)[0].hosts == (f"localhost_{address.port}",)
    files: Any = import_module("fsspec.core").url_to_fs(url)[0]
    assert [name.rpartition("/")[2] for name in files.find(url)] == [done.file]


def test_a_log_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for wrong in (str(tmp_path / "file"), "nonsense://bucket"):
        with pytest.raises(UsageError, match=f"--log-dir {wrong}"), run_folder(wrong):
            pass


def test_an_old_trainer_on_another_file_system(tmp_path: Path) -> None:
    with served(lambda _: b"", old=True) as address:
        (done,) = taken(tmp_path, [address])
    assert done.fault is not None
    assert "before 2.21" in done.fault
    assert "--log-dir" in done.fault
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (response(EMPTY), "no trace event"),
        (response(b""), "no trace event"),
        (b"", "no trace event"),
        (b"\xff\xff\xff", "its answer is no profile: corrupt"),
        (response(b"\x0a\xff"), "its answer is no profile: truncated"),
    ],
)
def test_an_answer_without_a_profile(tmp_path: Path, answer: bytes, said: str) -> None:
    with served(lambda _: answer) as address:
        (done,) = taken(tmp_path, [address])
    assert done.fault is not None
    assert said in done.fault
    assert list(tmp_path.iterdir()) == [], "no empty run is left"


def test_a_trainer_that_does_not_answer_in_time(tmp_path: Path) -> None:
    enough = threading.Event()

    def profile(_: bytes) -> bytes:
        enough.wait(60)
        return response(SPACE)

    with served(profile) as address:
        (done,) = taken(tmp_path, [address], CaptureRequest(0.2, 0.3))
        enough.set()
    assert done.fault is not None
    assert "no answer within 0.5 s (0.2 s of capture and 0.3 s for the answer)" in done.fault
    assert done.took_s < 10


def test_many_are_captured_at_the_same_time(tmp_path: Path) -> None:
    count = 40
    together = threading.Barrier(count)

    def profile(_: bytes) -> bytes:
        together.wait(60)  # nobody answers before all were asked
        return response(SPACE)

    with ExitStack() as stack:
        addresses = [stack.enter_context(served(profile)) for _ in range(count)]
        captures = taken(tmp_path, addresses)
    assert [done.fault for done in captures] == [None] * count
    assert [done.address for done in captures] == addresses
    assert len(left(tmp_path)) == count


def test_what_is_asked_for(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def profile(request: bytes) -> bytes:
        asked.append(request)
        return response(SPACE)

    with served(profile) as address:
        taken(tmp_path, [address], CaptureRequest(1.5))
    told = parsed("ProfileRequest", asked[0])
    assert (told.duration_ms, told.opts.duration_ms, told.emit_xspace) == (1500, 1500, 1)
    assert told.repository_root == "", "a trainer that can send the profile writes none"


def test_runs_of_the_same_second_do_not_mix(tmp_path: Path) -> None:
    with run_folder(str(tmp_path)) as first, run_folder(str(tmp_path)) as second:
        assert first.url != second.url
        first.write("file", memoryview(b"kept"))
        assert first.read("file") == b"kept"
    assert left(tmp_path) == ["file"]
    assert not Path(second.url).exists()
