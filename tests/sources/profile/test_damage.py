"""What is no whole XSpace must be refused with one line; nothing of it may vanish unsaid."""

import gzip
import time
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sources.profile import spaces
from tpudiag.errors import UnreadableInput
from tpudiag.sources.profile import facts
from tpudiag.sources.profile.events import Line
from tpudiag.sources.profile.schema import message
from tpudiag.sources.profile.wire import fields
from tpudiag.sources.profile.xstats import whole_numbers

pytestmark = pytest.mark.slow


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


def test_truncated_anywhere(tmp_path: Path) -> None:
    data: bytes = spaces.training(devices=1, steps=2).SerializeToString()
    whole = boundaries(data)
    for size in range(1, len(data)):
        if size not in whole:
            assert "truncated" in refused(tmp_path / "a.xplane.pb", data[:size])


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_bit_flips_end_in_facts_or_one_line(tmp_path: Path, data: st.DataObject) -> None:
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


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(min_size=1, max_size=300))
def test_noise_is_refused(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path / "a.xplane.pb", data)


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"no profile, but a line of text\n" * 20, "not an XSpace"),
        (b"{}", "not an XSpace"),
        (descriptor_pb2.FileDescriptorProto(name="a", package="b").SerializeToString(), "corrupt"),
        (gzip.compress(b"x" * 100), "gzip"),
        (b"\x0a\x00", "without events"),
        (b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "not an XSpace"),
        (b"\x0a\x05\x12\x03\xff\xfe\xfd", "corrupt"),
        (b"\x0a\x04\x12\x09ab", "corrupt"),
    ],
    ids=["text", "json", "proto", "gzip", "events", "varint", "utf8", "nested"],
)
def test_no_profile(tmp_path: Path, data: bytes, cause: str) -> None:
    file = tmp_path / "a.xplane.pb"
    assert cause in refused(file, data).replace(str(file), "")


def test_what_is_not_understood_is_said(tmp_path: Path) -> None:
    made: Any = spaces.training(devices=1, steps=2)
    made.planes[1].lines[1].events[0].metadata_id = 999
    made.planes[1].lines[1].events[1].MergeFromString(b"\x7a\x03abc")
    strangers, unknown = facts(spaces.write(made, tmp_path))[0].warnings
    assert "1 events without metadata" in strangers
    assert "bytes in fields that this reader does not know" in unknown


def test_what_the_profiler_warned_of_is_kept(tmp_path: Path) -> None:
    made = spaces.training(devices=1, steps=2)
    made.errors.append("dropped 5 events")
    assert facts(spaces.write(made, tmp_path))[0].warnings == ("dropped 5 events",)


def test_a_million_planes(tmp_path: Path) -> None:
    file = tmp_path / "a.xplane.pb"
    file.write_bytes(b"\x0a\x02\x08\x01" * 10**6)
    begun = time.process_time()
    with pytest.raises(UnreadableInput, match="without events"):
        facts(file)
    assert time.process_time() - begun < 60


@pytest.mark.parametrize(
    ("field", "value", "cause"),
    [
        *(("timestamp_ns", value, "absurd") for value in (2**62, -(2**62), 10**17)),
        ("offset_ps", 2**62, "absurd"),
        ("duration_ps", 2**62, "absurd"),
        ("duration_ps", -5, "ends before it starts"),
    ],
)
def test_absurd_times(tmp_path: Path, field: str, value: int, cause: str) -> None:
    made = spaces.training(devices=1, steps=2)
    line = made.planes[1].lines[1]
    setattr(line if field == "timestamp_ns" else line.events[0], field, value)
    assert cause in refused(tmp_path / "a.xplane.pb", made.SerializeToString())


def test_times_since_the_epoch_are_no_damage(tmp_path: Path) -> None:
    made = spaces.training(devices=1, steps=3)
    epoch_ns = 1741722099081044120
    for plane in made.planes:
        for line in plane.lines:
            line.timestamp_ns += epoch_ns
    assert spaces.steps(made, tmp_path).step_ms == pytest.approx([20.0] * 3)


VALUE: st.SearchStrategy[int | str | float | bytes] = st.one_of(
    st.integers(0, 2**63 - 1),
    st.text(max_size=300),
    st.floats(allow_nan=False),
    st.just(b'"\x04\x08\x01\x10\x00' * 9),  # what looks like events inside a stat
)
STATS = (1, 5, 128, 70_000)
EVENT: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "metadata_id": st.sampled_from([0, 1, 2, 127, 128, 300, 20_000, 3_000_000, 2**40]),
        "offset_ps": st.one_of(st.none(), st.integers(0, 2**60)),
        "duration_ps": st.integers(0, 2**60),
        "stats": st.lists(st.tuples(st.sampled_from(STATS), VALUE), max_size=4),
    }
)
KINDS = {int: "int64_value", str: "str_value", float: "double_value", bytes: "bytes_value"}


@settings(max_examples=150, deadline=None)
@given(st.lists(EVENT, max_size=40))
def test_the_decoder_reads_what_protobuf_reads(events: list[dict[str, Any]]) -> None:
    made: Any = message("XLine")()
    made.name, made.timestamp_ns = "line", 5
    for event in events:
        added = made.events.add(metadata_id=event["metadata_id"], duration_ps=event["duration_ps"])
        if event["offset_ps"] is not None:
            added.offset_ps = event["offset_ps"]
        for id_, value in event["stats"]:
            setattr(added.stats.add(metadata_id=id_), KINDS[type(value)], value)
    line = Line(memoryview(made.SerializeToString()))
    found = [
        row
        for events_ in line.windows()
        for row in zip(
            events_.ids.tolist(), events_.offsets.tolist(), events_.durations.tolist(), strict=True
        )
    ]
    assert (line.name, line.timestamp_ns, line.unknown_bytes) == ("line", 5, 0)
    expected = [(e.metadata_id, e.offset_ps, e.duration_ps) for e in made.events]
    assert sorted(found) == sorted(expected)


@settings(max_examples=60, deadline=None)
@given(st.lists(EVENT, min_size=1, max_size=20))
def test_stats_are_read_as_protobuf_reads_them(events: list[dict[str, Any]]) -> None:
    made: Any = message("XLine")()
    expected: list[tuple[int, int]] = []
    for number, event in enumerate(events):
        added = made.events.add(metadata_id=1, offset_ps=number, duration_ps=1)
        for id_, value in event["stats"]:
            if isinstance(value, int):
                added.stats.add(metadata_id=id_, int64_value=value)
                expected += [(id_, value)] if value < 2**56 else []
            elif isinstance(value, str):
                added.stats.add(metadata_id=id_, str_value=value)
    line = Line(memoryview(made.SerializeToString()))
    found = [
        pair
        for window in line.windows()
        for some in whole_numbers(window, STATS)
        for pair in zip(some.ids.tolist(), some.values.tolist(), strict=True)
    ]
    assert sorted(found) == sorted(expected)
