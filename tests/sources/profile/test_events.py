"""Lines that are decoded together come to the same as each alone."""

from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.profile.events import Clock, Line, Region
from tpudiag.sources.profile.schema import message
from tpudiag.sources.profile.wire import Damaged

GAP = b"\x1a\x05"
"""What lies between lines in a file: a tag and a length."""


def line(name: str, events: list[tuple[int, int, int]], **more: Any) -> bytes:
    """The bytes of one line; each event has a stat."""
    made: Any = message("XLine")()
    made.name, made.timestamp_ns = name, 7
    for id_, offset, duration in events:
        event = made.events.add(metadata_id=id_, offset_ps=offset, duration_ps=duration, **more)
        event.stats.add(metadata_id=3, int64_value=offset % 91)
    data: bytes = made.SerializeToString()
    return data


def decoded(data: bytes, region: Region | None = None, offset: int = 0) -> list[tuple[int, ...]]:
    """Id, offset, duration and the bytes of stats of each event; raises Damaged."""
    return [
        event
        for window in Line(memoryview(data), region, offset).windows()
        for event in zip(
            window.ids.tolist(),
            window.offsets.tolist(),
            window.durations.tolist(),
            (window.stats_to - window.stats_from).tolist(),
            strict=True,
        )
    ]


LINES = [
    line("a", [(1, 5, 9), (300, 1 << 40, 1 << 30), (2, 1 << 50, 0)]),
    line('"\x06\x08\x01\x10\x05', [(1, 7, 1)] * 40),
    line("empty", []),
    line("odd", [(1 << 22, 8, 2), (1, 9, 3)]),
    line("last", [(5, 11, 4)] * 3),
]


def test_lines_of_a_region_are_what_they_are_alone() -> None:
    data = memoryview(GAP.join(LINES))
    region = Region(data, 0, len(data))
    at = 0
    for one in LINES:
        assert decoded(one, region, at) == decoded(one)
        at += len(one) + len(GAP)
    assert [len(decoded(one)) for one in LINES] == [3, 40, 0, 2, 3]


@pytest.mark.parametrize("cut", range(1, 12))
def test_an_event_that_reaches_into_the_next_line_is_damage(cut: int) -> None:
    first = LINES[0][:-cut]
    data = memoryview(first + LINES[1])
    with pytest.raises(Damaged):
        decoded(first, Region(data, 0, len(data)), 0)
    with pytest.raises(Damaged):
        decoded(first)


SINCE_EPOCH = 1_741_722_099_000_000_000


def line_at(timestamp_ns: int) -> Any:
    return SimpleNamespace(name="XLA Ops", timestamp_ns=timestamp_ns)


def test_times_since_the_epoch_fit_and_differences_stay() -> None:
    clock = Clock()
    clock.begin(iter([line_at(SINCE_EPOCH)]))
    clock.begin(iter([line_at(5)]))
    assert clock.start_ps(line_at(SINCE_EPOCH)) == 0
    assert clock.start_ps(line_at(SINCE_EPOCH + 7)) == 7_000
    assert clock.start_ps(line_at(SINCE_EPOCH - 7)) == -7_000
    with pytest.raises(Damaged, match=r"XLA Ops.*absurd time"):
        clock.start_ps(line_at(0))


def test_short_times_stand_as_they_are() -> None:
    clock = Clock()
    clock.begin(iter([]))
    assert clock.start_ps(line_at(212_990)) == 212_990_000
    assert clock.start_ps(line_at(0)) == 0
