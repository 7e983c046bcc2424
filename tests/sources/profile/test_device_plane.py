import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tpudiag.signals import Device, DeviceOp
from tpudiag.sources.profile import facts

Ask = Callable[[Path, str], Any]


def hlo_stats(answer: Any) -> dict[str, dict[str, Any]]:
    """XProf's rows by op name."""
    labels = [column["label"] for column in answer["cols"]]
    rows = [dict(zip(labels, (c["v"] for c in row["c"]), strict=True)) for row in answer["rows"]]
    return {row["HLO op name"]: row for row in rows}


def properties(answer: Any) -> dict[str, str]:
    return {key: value for table in answer for key, value in table.get("p", {}).items()}


def agree(ops: tuple[DeviceOp, ...], theirs: dict[str, dict[str, Any]]) -> None:
    assert {op.name for op in ops} == set(theirs)
    for op in ops:
        row = theirs[op.name]
        assert op.self_ms == pytest.approx(row["Total self time (us)"] / 1000, rel=0.01), op.name
        assert op.count == row["#Occurrences"]
        assert op.category == row["HLO op category"]


def idle_percent(devices: tuple[Device, ...]) -> float:
    window = sum(device.window_ms for device in devices)
    return 100 * (1 - sum(device.busy_ms for device in devices) / window)


@pytest.mark.slow
def test_the_real_profile_agrees_with_xprof(real: Path, ask: Ask) -> None:
    found, _ = facts(real)
    agree(found.ops, hlo_stats(ask(real, "hlo_stats")))
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


def test_the_real_profiles_hardware(real: Path) -> None:
    found, steps = facts(real)
    assert steps
    assert "program 'jit_f', which is most" in steps.source
    assert found.warnings == ()
    assert found.bytes_read == real.stat().st_size
    assert {d.peak_tflops for d in found.devices} == {918.0}
    assert {d.peak_hbm_gb_per_s for d in found.devices} == {1637.993152512}


def test_a_training_profile_agrees_with_xprof(tmp_path: Path, ask: Ask) -> None:
    file = spaces.write(spaces.training(devices=3, steps=12), tmp_path)
    found, steps = facts(tmp_path)
    agree(found.ops, hlo_stats(ask(file, "hlo_stats")))
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


def test_busy_time_counts_overlapping_modules_once(tmp_path: Path) -> None:
    made = spaces.space()
    spaces.add_device(made, 0, [("a", 0, 10), ("b", 5, 10), ("c", 30, 10)])
    spaces.write(made, tmp_path)
    (device,) = facts(tmp_path)[0].devices
    assert (device.busy_ms, device.window_ms) == (25, 40)
    assert device.idle_share == pytest.approx(15 / 40)


def test_without_modules_the_ops_tell(tmp_path: Path) -> None:
    made = spaces.space()
    spaces.add_device(made, 0, [], [("a", "x", 0, 10), ("b", "x", 15, 5)])
    spaces.write(made, tmp_path)
    (device,) = facts(tmp_path)[0].devices
    assert (device.busy_ms, device.window_ms) == (15, 20)


def test_a_device_that_ran_nothing_was_idle(tmp_path: Path) -> None:
    made = spaces.space()
    spaces.add_device(made, 0, [("a", 5, 10)])
    spaces.add_device(made, 1, [])
    spaces.write(made, tmp_path)
    busy, idle = facts(tmp_path)[0].devices
    assert (busy.idle_share, idle.idle_share) == (0, 1)
    assert idle.window_ms == busy.window_ms == 10


def test_no_peak_is_not_a_peak_of_zero(tmp_path: Path) -> None:
    made = spaces.space()
    spaces.add_device(made, 0, [("a", 5, 10)], stats={"peak_teraflops_per_second": 0.0})
    spaces.write(made, tmp_path)
    (device,) = facts(tmp_path)[0].devices
    assert (device.peak_tflops, device.peak_hbm_gb_per_s) == (None, None)
    assert device.kind == "unknown TPU"


def test_other_planes_are_no_devices(tmp_path: Path) -> None:
    made = spaces.training(devices=1)
    spaces.Plane(made, "/device:TPU:0 SparseCore 0")
    spaces.Plane(made, "/device:GPU:0")
    spaces.write(made, tmp_path)
    assert [d.name for d in facts(tmp_path)[0].devices] == ["/device:TPU:0"]


def test_figures_are_plain_numbers(tmp_path: Path) -> None:
    spaces.write(spaces.training(), tmp_path)
    (op, *_) = facts(tmp_path)[0].ops
    assert (op.flops, op.bytes_accessed) == (1000 * op.count, 4096 * op.count)
    assert json.dumps([op.self_ms, op.share])
