"""Planes that write the same metadata share it, in whatever order they write it."""

import pytest

from tpudiag.sources.profile.tables import tables
from tpudiag.sources.profile.wire import Damaged

EVENTS, STATS = b"\x22", b"\x2a"


def entry(tag: bytes, id_: int, name: str) -> memoryview:
    """One entry of a plane's table, as it stands in the file."""
    value = b"\x12" + bytes((len(name),)) + name.encode()
    inside = b"\x08" + bytes((id_,)) + b"\x12" + bytes((len(value),)) + value
    return memoryview(tag + bytes((len(inside),)) + inside)


def test_the_order_of_the_entries_is_no_matter() -> None:
    events = [entry(EVENTS, 1, "fusion"), entry(EVENTS, 2, "copy")]
    stats = [entry(STATS, 7, "flops")]
    one, other = tables(events, stats), tables(events[::-1], stats)
    assert one is other
    assert one.names == {1: "fusion", 2: "copy"}
    assert one.stat_names == {7: "flops"}
    assert one.metadata[2].name == "copy"
    assert one.unknown_bytes == 0


def test_tables_that_differ_in_a_stat_are_not_shared() -> None:
    events = [entry(EVENTS, 1, "fusion")]
    flops, bytes_ = (tables(events, [entry(STATS, 7, name)]) for name in ("flops", "bytes"))
    assert (flops.stat_names[7], bytes_.stat_names[7]) == ("flops", "bytes")


def test_of_an_id_that_stands_twice_the_last_counts() -> None:
    first, last = entry(EVENTS, 1, "zebra"), entry(EVENTS, 1, "ape")
    assert tables([first, last], []).names == {1: "ape"}
    assert tables([last, first], []).names == {1: "zebra"}


def test_a_table_that_is_none_is_damage() -> None:
    with pytest.raises(Damaged, match="cannot be decoded"):
        tables([memoryview(b"\x22\x05\x08\x01\x12\x09\x12")], [])
