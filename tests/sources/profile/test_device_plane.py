import json
from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tpudiag.signals import Device
from tpudiag.sources.profile import facts


def test_the_real_profiles_hardware(real: Path) -> None:
    found, steps = facts(real)
    assert steps
    assert "program 'jit_f', which is most" in steps.source
    assert found.warnings == ()
    assert found.bytes_read == real.stat().st_size
    assert {d.peak_tflops for d in found.devices} == {918.0}
    assert {d.peak_hbm_gb_per_s for d in found.devices} == {1637.993152512}


def read(tmp_path: Path, *devices: dict[str, Any]) -> tuple[Device, ...]:
    """Devices that run these modules and operations, as they are read."""
    made = spaces.space()
    for ordinal, about in enumerate(devices):
        spaces.add_device(made, ordinal, **about)
    return facts(spaces.write(made, tmp_path))[0].devices


def test_busy_time_counts_overlapping_modules_once(tmp_path: Path) -> None:
    (device,) = read(tmp_path, {"modules": [("a", 0, 10), ("b", 5, 10), ("c", 30, 10)]})
    assert (device.busy_ms, device.window_ms) == (25, 40)
    assert device.idle_share == pytest.approx(15 / 40)


def test_without_modules_the_ops_tell(tmp_path: Path) -> None:
    ops = [("a", "x", 0, 10), ("b", "x", 15, 5)]
    (device,) = read(tmp_path, {"modules": [], "ops": ops})
    assert (device.busy_ms, device.window_ms) == (15, 20)


def test_a_device_that_ran_nothing_was_idle(tmp_path: Path) -> None:
    busy, idle = read(tmp_path, {"modules": [("a", 5, 10)]}, {"modules": []})
    assert (busy.idle_share, idle.idle_share) == (0, 1)
    assert idle.window_ms == busy.window_ms == 10


def test_no_peak_is_not_a_peak_of_zero(tmp_path: Path) -> None:
    stats = {"peak_teraflops_per_second": 0.0}
    (device,) = read(tmp_path, {"modules": [("a", 5, 10)], "stats": stats})
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
