"""A whole XSpace with odd contents: a report without a broken check, or one line."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.sources.profile import spaces
from tpudiag import report_json
from tpudiag.errors import UnreadableInput
from tpudiag.model import Verdict

pytestmark = pytest.mark.slow

TEXTS = (
    "", "f32[8,128]{1,0:T(8,128)} x()", "bf16[,]{,:T(8,128)} x()", "f32[8,128]{:T(8,128)} x()",
    f"f32[{'9' * 5000}]{{0:T(8)}}", "f32[8,128]{9,9:T(0,*)}", "train.py:" + "9" * 5000, "7", "²",
    "Iterator::", "Iterator::Root[::]", "MemoryAllocation", "IteratorGetNextOp::DoCompute",
    "all-reduce", "while", "infeed", "convolution fusion", "/host:CPU", "/device:TPU:99999999999",
    "/host:metadata", "Task Environment", "Steps", "train", "EagerLocalExecute: Mul",
)  # fmt: skip
NUMBERS = (0, 1, -1, 2**31, 2**62, -(2**62), 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, math.nan, math.inf, -math.inf, 1e308, 5e-324)
KINDS: dict[str, tuple[Any, ...]] = {
    "str_value": TEXTS, "int64_value": NUMBERS, "uint64_value": (0, 1, 2**64 - 1),
    "double_value": FLOATS, "ref_value": (0, 1, 7, 2**64 - 1),
    "bytes_value": (b"", b"\x0a\x80", b"x"),
}  # fmt: skip
CHANGE = st.tuples(
    st.sampled_from(["stat"] * 3 + ["metadata"] * 4 + ["event", "line", "plane", "host"]),
    st.integers(0, 10_000),
    st.sampled_from(sorted(KINDS)).flatmap(
        lambda kind: st.tuples(st.just(kind), st.sampled_from(KINDS[kind]))
    ),
    st.sampled_from(TEXTS),
    st.sampled_from(NUMBERS),
)


def change(made: Any, what: str, which: int, value: tuple[str, Any], rest: tuple[str, int]) -> None:
    """Put one odd thing into the space."""
    text, number = rest
    plane = made.planes[which % len(made.planes)]
    metadata = [plane.event_metadata[key] for key in sorted(plane.event_metadata)]
    events = [event for line in plane.lines for event in line.events]
    if what == "host":
        made.hostnames[:] = [text]
    elif what == "plane":
        plane.name = text
    elif what == "line" and plane.lines:
        plane.lines[which % len(plane.lines)].name = text
    elif what == "event" and events:
        event = events[which % len(events)]
        event.metadata_id, event.duration_ps = number, abs(number) % 2**50
    elif what == "metadata" and metadata:
        chosen = metadata[which % len(metadata)]
        chosen.name, chosen.display_name = f"%a = {text}" if which % 2 else text, ""
    else:
        stats = [stat for owner in (plane, *metadata, *events) for stat in owner.stats]
        if stats:
            setattr(stats[which % len(stats)], *value)


@settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(CHANGE, min_size=1, max_size=6))
@example([("metadata", 5, ("str_value", ""), "bf16[,]{,:T(8,128)} x()", 0)])
@example([("metadata", 5, ("str_value", ""), f"f32[{'9' * 5000}]{{0:T(8)}}", 0)])
@example([("plane", 1, ("str_value", ""), "/device:TPU:99999999999", 0)])
@example([("plane", 1, ("str_value", ""), "/device:TPU:" + "9" * 5000, 0)])
@example([("stat", 1061, ("double_value", 1e308), "", 0)])
def test_odd_contents(tmp_path: Path, changes: list[Any]) -> None:
    made = spaces.pod_host("host", steps=4, devices=1)
    spaces.add_reading(made, [50.0, 70.0, 90.0], 0.5)
    for what, which, value, text, number in changes:
        change(made, what, which, value, (text, number))
    file = tmp_path / "a.xplane.pb"
    file.write_bytes(made.SerializeToString())
    try:
        report = spaces.report(file)
    except UnreadableInput as error:
        assert "\n" not in str(error)
        return
    broken = [(o.id, o.reason) for o in report.outcomes if o.verdict is Verdict.BROKEN]
    assert not broken
    again = tmp_path / "a.json"
    again.write_text(report_json.dumps(report))
    assert report_json.load(again).measurements.keys() == report.measurements.keys()
    for name, measurement in report.measurements.items():
        if isinstance(measurement.value, float) and name.endswith("_share"):
            assert measurement.value == pytest.approx(50, abs=50.1), name
