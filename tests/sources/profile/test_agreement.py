"""Figures held against XProf's own, from the same file: within 1 %, or the difference explained."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tpudiag.signals import Device, DeviceOp
from tpudiag.sources.profile import facts

pytestmark = pytest.mark.slow

Ask = Callable[..., Any]
GIB = 2**30


def rows(table: dict[str, Any], by: str = "id") -> list[dict[str, Any]]:
    """XProf's rows by the ids of their columns, or by the labels."""
    ids = [column[by] for column in table["cols"]]
    return [dict(zip(ids, (c.get("v") for c in row["c"]), strict=True)) for row in table["rows"]]


def properties(page: Any) -> dict[str, str]:
    return {key: text for table in page for key, text in table.get("p", {}).items()}


def agree(ops: tuple[DeviceOp, ...], stats: Any) -> None:
    """Operations with XProf's table of them."""
    theirs = {row["HLO op name"]: row for row in rows(stats, by="label")}
    assert {op.name for op in ops} == set(theirs)
    for op in ops:
        row = theirs[op.name]
        assert op.self_ms == pytest.approx(row["Total self time (us)"] / 1000, rel=0.01), op.name
        assert op.count == row["#Occurrences"]
        assert op.category == row["HLO op category"]


def idle_percent(devices: tuple[Device, ...]) -> float:
    window = sum(device.window_ms for device in devices)
    return 100 * (1 - sum(device.busy_ms for device in devices) / window)


def test_the_real_profile_agrees_with_xprof(real: Path, ask: Ask) -> None:
    found, _ = facts(real)
    agree(found.ops, ask(real, "hlo_stats"))
    said = properties(ask(real, "overview_page"))
    assert said["device_type"] == found.devices[0].kind == "TPU v6 Lite"
    assert int(said["device_core_count"]) == len(found.devices) == 4
    # XProf rounds to 0.1 and, for this one, takes the spans of operations for windows.
    assert idle_percent(found.devices) == pytest.approx(
        float(said["device_idle_time_percent"].rstrip("%")), abs=0.15
    )
    profile = ask(real, "op_profile")["byProgram"]["metrics"]["rawTime"]
    assert sum(d.window_ms for d in found.devices) == pytest.approx(profile / 1e9, rel=0.01)
    idle = next(
        child
        for child in ask(real, "op_profile")["byProgram"]["children"]
        if child["name"] == "IDLE"
    )["metrics"]["rawTime"]
    idle_ms = sum(d.window_ms - d.busy_ms for d in found.devices)
    assert idle_ms == pytest.approx(idle / 1e9, rel=0.01)


def test_a_training_profile_agrees_with_xprof(tmp_path: Path, ask: Ask) -> None:
    file = spaces.write(spaces.training(devices=3, steps=12), tmp_path)
    found, steps = facts(tmp_path)
    agree(found.ops, ask(file, "hlo_stats"))
    said = properties(ask(file, "overview_page"))
    assert idle_percent(found.devices) == pytest.approx(
        float(said["device_idle_time_percent"].rstrip("%")), rel=0.01
    )
    assert steps
    assert steps.input_wait_ms
    mean = sum(steps.step_ms) / len(steps.step_ms)
    assert mean == pytest.approx(float(said["steptime_ms_average"]), rel=0.01)
    share = 100 * sum(steps.input_wait_ms) / sum(steps.step_ms)
    assert share == pytest.approx(float(said["infeed_percent_average"]), rel=0.01)


@pytest.mark.parametrize("which", ["real", "pod"])
def test_roofline(which: str, request: pytest.FixtureRequest, tmp_path: Path, ask: Ask) -> None:
    if which == "real":
        file: Path = request.getfixturevalue("real")
    else:
        file = spaces.write(spaces.pod_host("a"), tmp_path)
    found, _ = facts(file)
    page = ask(file, "roofline_model")
    theirs = {
        row["operation"]: row
        for row in rows(page[0])
        if row["step"] == "Total" and row["include_infeed_outfeed"]
    }
    for op in found.ops:
        row = theirs[op.name]
        assert op.total_ms == pytest.approx(row["total_time"] / 1e3, rel=0.01), op.name
        if op.category.endswith("-start"):
            # XProf holds the whole transfer against the moment of its start: 895 PB/s here.
            assert op.hbm_gb_per_s is None, op.name
        elif not op.holds_others:
            assert op.gflop_per_s == pytest.approx(row["measured_flop_rate"], rel=0.01), op.name
            gib_per_s = row["hbm_bw"]
            assert (op.hbm_gb_per_s or 0) * 1e9 / GIB == pytest.approx(gib_per_s, rel=0.01)
        if op.flops or op.bytes_accessed:
            # XProf says "HBM" where we say memory; it files an infeed under memory, too.
            expected = "compute" if row["bound_by"] == "Compute" else "memory"
            assert op.bound_by == ("input" if op.category == "infeed" else expected)
    window = sum(device.window_ms for device in found.devices)
    busy = sum(device.busy_ms for device in found.devices)
    whole = theirs["Program"]
    assert found.mxu_share is not None
    assert found.hbm_share is not None
    # XProf's program row is over the whole window, ours over the time the devices were busy.
    of_peak = whole["measured_flop_rate"] / 918_000 * window / busy
    assert found.mxu_share == pytest.approx(of_peak, rel=0.01)
    of_bandwidth = whole["hbm_bw"] * GIB / 1637.993152512e9 * window / busy
    assert found.hbm_share == pytest.approx(of_bandwidth, rel=0.01)


def test_peak_memory(real: Path, ask: Ask) -> None:
    found, _ = facts(real)
    theirs = ask(real, "memory_profile")["memoryProfilePerAllocator"]
    assert found.memory
    assert {f"device {name}" for name in theirs} == {peak.allocator for peak in found.memory}
    for peak in found.memory:
        said = theirs[peak.allocator.removeprefix("device ")]["profileSummary"]
        assert peak.peak_bytes == int(said["peakStats"]["peakBytesInUse"])
        assert peak.capacity_bytes == int(said["memoryCapacity"])
        assert (peak.fragmentation or 0.0) == pytest.approx(said["peakStats"]["fragmentation"])
        assert sum(size for _, size in peak.held_by) == peak.peak_bytes


def test_steps_of_a_pod_host(tmp_path: Path, ask: Ask) -> None:
    file = spaces.write(spaces.pod_host("a", input_ms=3.0), tmp_path)
    found, steps = facts(file)
    assert steps
    page = ask(file, "overview_page")
    said = properties(page)
    mean = sum(steps.step_ms) / len(steps.step_ms)
    assert mean == pytest.approx(float(said["steptime_ms_average"]), rel=0.01)
    # XProf counts an infeed that starts at the end of a step to that step, too: here to the
    # first, whose input it doubles, and not to the last. The steps between them are right.
    (fifth,) = (row for row in rows(page[1]) if row["stepnum"] == "5")
    parts = {part.name: part.ms[5] for part in found.replicas[0].parts}
    assert parts["input"] == pytest.approx(fifth["tcInfeedTimeMs"], rel=0.01)
    # XProf's compute holds the collectives; we tell them apart.
    together = parts["compute"] + parts["collectives"]
    assert together == pytest.approx(fifth["tcComputeTimeMs"], rel=0.01)
    assert parts["idle"] == pytest.approx(fifth["tcIdleTimeMs"], abs=0.001)


def test_a_run_of_several_hosts(tmp_path: Path, ask: Ask) -> None:
    hosts = [
        spaces.pod_host(f"h{n}", step_ms=20.0 + n, compute_ms=14.0 + n, clock_ms=3.0 * n)
        for n in range(3)
    ]
    files = [spaces.write(host, tmp_path, host=f"h{n}") for n, host in enumerate(hosts)]
    found, steps = facts(tmp_path)
    page = ask(files[0], "overview_page", *files[1:])
    said = properties(page)
    assert int(said["host_count"]) == len(found.hosts) == 3
    assert int(said["device_core_count"]) == len(found.devices) == 6
    assert steps
    # A step is as long as on the slowest host, for XProf, too.
    assert float(said["steptime_ms_average"]) == pytest.approx(22.0, rel=0.01)
    for figure, ours in (
        ("steptime_ms_average", sum(steps.step_ms) / len(steps.step_ms)),
        ("steptime_ms_minimum", min(steps.step_ms)),
        ("steptime_ms_maximum", max(steps.step_ms)),
    ):
        assert ours == pytest.approx(float(said[figure]), rel=0.01), figure
    theirs = {row["operation"]: row["selfTimePercent"] for row in rows(page[0])}
    busy = sum(op.self_ms for op in found.ops)
    for op in found.ops:
        assert op.self_ms / busy == pytest.approx(theirs[op.name], rel=0.01), op.name


def test_the_input_that_all_hosts_wait_for(tmp_path: Path, ask: Ask) -> None:
    files = [
        spaces.write(spaces.pod_host(f"h{n}", input_ms=ms), tmp_path, host=f"h{n}")
        for n, ms in enumerate((1.0, 1.0, 4.0, 1.0))
    ]
    _, steps = facts(tmp_path)
    assert steps
    assert steps.input_wait_ms
    share = 100 * sum(steps.input_wait_ms) / sum(steps.step_ms)
    assert share == pytest.approx(20.0)
    tables = ask(files[0], "overview_page", *files[1:])
    said = properties(tables)
    found = re.search(r"because ([0-9.]+)%", said["input_conclusion"])
    assert found
    # XProf gives the first step the infeed of the second, too, and the last one none: of 12
    # steps of 20 ms it sees 48 of 244 ms.
    assert float(found[1]) == pytest.approx(100 * 48 / 244, rel=0.01)


def test_the_wait_over_steps_of_unequal_length(tmp_path: Path, ask: Ask) -> None:
    made = spaces.space()
    long = [(50.0 + 44 * number, 30.0) for number in range(10)]
    spans = [span for at, ms in long for span in ((at, ms), (at + ms + 2, 10.0))]
    spaces.add_steps(made, 0, spans, (("infeed.1", "infeed", 1.0),))
    file = spaces.write(made, tmp_path)
    steps = facts(file)[1]
    assert steps
    assert steps.input_wait_ms
    page = ask(file, "overview_page")
    said = properties(page)
    assert sum(steps.step_ms) / 20 == pytest.approx(float(said["steptime_ms_average"]), rel=0.01)
    # XProf's mean is that of each step's percentage, in which a short step counts as much as a
    # long one; ours is the share of the time.
    assert sum(steps.input_wait_ms) / sum(steps.step_ms) == pytest.approx(20 / 400)
    each = [100 * w / ms for w, ms in zip(steps.input_wait_ms, steps.step_ms, strict=True)]
    assert sum(each) / 20 == pytest.approx(float(said["infeed_percent_average"]), abs=0.4)
