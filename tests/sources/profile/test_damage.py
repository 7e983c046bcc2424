"""What is no whole XSpace must be refused with one line; nothing of it may vanish unsaid."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tpudiag.errors import UnreadableInput
from tpudiag.sources.profile import facts
from tpudiag.sources.profile.wire import fields


def refused(file: Path, data: bytes) -> str:
    file.write_bytes(data)
    with pytest.raises(UnreadableInput) as caught:
        facts(file)
    said = str(caught.value)
    assert str(file) in said
    assert "\n" not in said
    return said


def boundaries(data: bytes) -> set[int]:
    """Where an XSpace may end and be whole."""
    return {0} | {field.end for field in fields(memoryview(data))}


def test_truncated_anywhere(spaces: ModuleType, tmp_path: Path) -> None:
    data: bytes = spaces.training(devices=1, steps=2).SerializeToString()
    whole = boundaries(data)
    for size in range(1, len(data)):
        if size not in whole:
            assert "truncated" in refused(tmp_path / "a.xplane.pb", data[:size])


def test_the_real_profile_truncated(real: Path, tmp_path: Path) -> None:
    data = real.read_bytes()
    whole = boundaries(data)
    for size in range(1, len(data), len(data) // 60):
        if size not in whole:
            refused(tmp_path / "a.xplane.pb", data[:size])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_bit_flips_end_in_facts_or_one_line(
    spaces: ModuleType, tmp_path: Path, data: st.DataObject
) -> None:
    original: bytes = spaces.training(devices=1, steps=2).SerializeToString()
    flipped = bytearray(original)
    for bit in data.draw(st.lists(st.integers(0, len(original) * 8 - 1), min_size=1, max_size=4)):
        flipped[bit // 8] ^= 1 << bit % 8
    file = tmp_path / "a.xplane.pb"
    file.write_bytes(flipped)
    try:
        facts(file)
    except UnreadableInput as error:
        assert str(file) in str(error)
        assert "\n" not in str(error)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(min_size=1, max_size=300))
def test_noise_is_refused(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path / "a.xplane.pb", data)


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "empty"),
        (b"no profile, but a line of text\n" * 20, "not an XSpace"),
        (b"{}", "not an XSpace"),
        (descriptor_pb2.FileDescriptorProto(name="a", package="b").SerializeToString(), "corrupt"),
        (gzip.compress(b"x" * 100), "gzip"),
        (b"\x22\x04host", "without planes"),
        (b"\x0a\x00", "without events"),
        (b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "not an XSpace"),
        (b"\x0a\x05\x12\x03\xff\xfe\xfd", "corrupt"),
        (b"\x0a\x04\x12\x09ab", "corrupt"),
    ],
    ids=["empty", "text", "json", "proto", "gzip", "planes", "events", "varint", "utf8", "nested"],
)
def test_no_profile(tmp_path: Path, data: bytes, cause: str) -> None:
    assert cause in refused(tmp_path / "a.xplane.pb", data)


def test_a_short_capture_holds_nothing(spaces: ModuleType, tmp_path: Path) -> None:
    made = spaces.space()
    spaces.add_host(made, ())
    assert "without events" in refused(tmp_path / "a.xplane.pb", made.SerializeToString())


def test_an_event_that_ends_before_it_starts(spaces: ModuleType, tmp_path: Path) -> None:
    made = spaces.training(devices=1, steps=2)
    made.planes[1].lines[1].events[0].duration_ps = -5
    assert "ends before it starts" in refused(tmp_path / "a.xplane.pb", made.SerializeToString())


def test_what_is_not_understood_is_said(spaces: ModuleType, tmp_path: Path) -> None:
    made: Any = spaces.training(devices=1, steps=2)
    made.planes[1].lines[1].events[0].metadata_id = 999
    made.planes[1].lines[1].events[1].MergeFromString(b"\x7a\x03abc")
    file = tmp_path / "a.xplane.pb"
    file.write_bytes(made.SerializeToString())
    strangers, unknown = facts(file)[0].warnings
    assert "1 events without metadata" in strangers
    assert "bytes in fields that this reader does not know" in unknown


def test_what_the_profiler_warned_of_is_kept(spaces: ModuleType, tmp_path: Path) -> None:
    made = spaces.training(devices=1, steps=2)
    made.errors.append("dropped 5 events")
    file = tmp_path / "a.xplane.pb"
    file.write_bytes(made.SerializeToString())
    assert facts(file)[0].warnings == ("dropped 5 events",)
