"""Peaks of allocators, and what held them."""

from typing import Any

import numpy as np
import pytest

from tpudiag.sources.profile.memory import EARLIER, MOMENTS, RESERVED, Allocations, peaks


def events(*rows: tuple[int, int, int, int, str], name: str = "device 0") -> Allocations:
    """Rows of time in ms, bytes (negative: freed), address, bytes allocated after it, op."""
    count = len(rows)

    def column(values: Any) -> Any:
        return np.array(list(values), np.int64)

    return Allocations(
        times=column(row[0] * 10**9 for row in rows),
        sizes=column(max(row[1], 0) for row in rows),
        addresses=column(row[2] for row in rows),
        reserved=column([100] * count),
        allocated=column(row[3] for row in rows),
        free=column(1000 - 100 - row[3] for row in rows),
        fragmented=np.full(count, np.nan),
        ops=[row[4] for row in rows],
        allocators=[name] * count,
    )


def test_what_was_alive_at_the_peak() -> None:
    parts = [
        events((1, 200, 1, 300, "kernel"), (2, 300, 2, 600, "batch")),
        events((3, -300, 2, 300, ""), (4, 400, 3, 700, ""), (5, -400, 3, 300, "")),
    ]
    (peak,) = peaks(parts, "host-0")
    assert (peak.peak_bytes, peak.capacity_bytes, peak.at_ms) == (800, 1000, 4.0)
    assert peak.fragmentation is None
    held = {"unnamed": 400, "kernel": 200, EARLIER: 100, RESERVED: 100}
    assert dict(peak.held_by) == held, "the batch was freed before"
    assert [size for _, size in peak.timeline] == [400, 700, 400, 800, 400]


def test_each_allocator_by_itself_and_in_the_order_of_time() -> None:
    late = events((9, 5, 1, 5, "b"), name="device 1")
    early = events((1, 7, 1, 7, "a"), name="device 1")
    other = events((2, 3, 1, 3, "c"))
    found = {peak.allocator: peak for peak in peaks([late, other, early], "h")}
    assert set(found) == {"device 0", "device 1"}
    assert [at for at, _ in found["device 1"].timeline] == [1.0, 9.0]
    assert list(peaks([], "h")) == []


def test_a_long_timeline_keeps_its_fullest_moments() -> None:
    rows = [(at, 1, at, 600 if at == 777 else 10, "op") for at in range(5000)]
    (peak,) = peaks([events(*rows)], "h")
    assert len(peak.timeline) == MOMENTS and (777.0, 700) in peak.timeline
    assert peak.peak_bytes == pytest.approx(700)
