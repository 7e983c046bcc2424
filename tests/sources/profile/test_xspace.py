"""An XSpace taken apart."""

import os
from pathlib import Path

import pytest

from tests.sources.profile import spaces
from tpudiag.sources.profile import xspace
from tpudiag.sources.profile.wire import Damaged
from tpudiag.sources.profile.xspace import stranger


def test_planes_their_stats_and_lines() -> None:
    made = spaces.training(devices=2, steps=3)
    made.warnings.append("dropped 3 events")
    released: list[int] = []
    whole = xspace.space(
        memoryview(made.SerializeToString()), lambda part: released.append(len(part))
    )
    assert whole.hostnames == ("worker-0",) and whole.warnings == ("dropped 3 events",)
    planes = {plane.name: plane for plane in whole.planes()}
    device = planes["/device:TPU:1"]
    assert device.stats["device_type_string"] == "TPU v6 Lite"
    assert "fusion.7" in " ".join(device.names.values())
    assert device.stat_id("flops") is not None and device.stat_id("no such stat") is None
    lines = {line.name: sum(len(events) for events in line.windows()) for line in device.lines()}
    assert lines == {"Steps": 3, "XLA Modules": 3, "XLA Ops": 12}
    assert sum(released) >= device.size, "memory is let go of line by line"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"<html><body>404", "HTML|not an XSpace"),
        (b"\x12\x00", "without planes"),
        (b"\x0a\x7fxx", "truncated"),
    ],
)
def test_what_is_no_xspace_is_told_in_a_line(data: bytes, words: str) -> None:
    with pytest.raises(Damaged, match=rf"(?i){words}"):
        xspace.space(memoryview(data))


def test_pipes_are_no_files_and_empty_ones_are_opened(tmp_path: Path) -> None:
    pipe, empty = tmp_path / "pipe", tmp_path / "empty"
    os.mkfifo(pipe)
    empty.touch()
    with pytest.raises(OSError, match="not a file"), xspace.opened(pipe):
        pass
    with xspace.opened(empty) as (data, release):
        assert len(data) == 0
        release(data)


@pytest.mark.parametrize(
    ("head", "cause"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        (b'{"displayTimeUnit": "ns", "traceEvents": []}', "JSON"),
        (b"\n<!DOCTYPE html><html>", "web page"),
        (b"PK\x03\x04\x14\x00", "unzip"),
        ("\n\ufffd\ufffd\x06\x12\x0a/device:TPU:0\x1a\ufffd4\ufffd".encode() * 4, "as text"),
    ],
)
def test_what_is_no_profile_is_called_by_its_name(head: bytes, cause: str) -> None:
    assert cause in (stranger(head) or "")


def test_a_profile_is_no_stranger() -> None:
    assert stranger(b"\x0a\xa7\xf4\x06\x08\x02\x12\x0d/device:TPU:0\x1a\x96\x34") is None
