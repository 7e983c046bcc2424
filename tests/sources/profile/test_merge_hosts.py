"""The facts of a run from those of its hosts."""

from pathlib import Path

import pytest

from tests.sources.profile import spaces
from tpudiag.sources.profile import facts


def test_hosts_of_one_name_go_by_their_files(tmp_path: Path) -> None:
    for file in ("first", "second"):
        spaces.write(spaces.pod_host("localhost", steps=6, devices=1), tmp_path, host=file)
    read, times = facts(tmp_path)
    assert read.hosts == ("first", "second")
    assert {device.host for device in read.devices} == {"first", "second"}
    assert {replica.host for replica in read.replicas} == {"first", "second"}
    assert times is not None and len(times.step_ms) == 6


def test_operations_of_all_devices_are_one_and_shares_add_up(tmp_path: Path) -> None:
    for host in ("a", "b"):
        spaces.write(spaces.pod_host(host, steps=6, devices=2), tmp_path, host=host)
    read, _ = facts(tmp_path)
    assert read.hosts == ("a", "b")
    ops = {op.name: op for op in read.ops}
    assert ops["matmul.1"].count == 2 * 2 * 6
    assert sum(op.share for op in read.ops) == pytest.approx(1.0)
    flops_per_s = 9e12 / 20e-3
    assert read.mxu_share == pytest.approx(flops_per_s / 918e12, rel=0.01)
    assert read.share_16_bit == pytest.approx(1.0)
    assert not read.steps_differ and not read.devices_missing


def test_more_of_a_peak_than_can_be_is_no_figure(tmp_path: Path) -> None:
    """Of devices that lost operations: what moved beside them counts, and their time does not."""
    made = spaces.training(devices=1, steps=4)
    (plane,) = spaces.devices(made)
    names = {key: value.name for key, value in plane.stat_metadata.items()}
    for metadata in plane.event_metadata.values():
        for stat in metadata.stats:
            if names[stat.metadata_id] == "flops":
                stat.int64_value = 10**15
    spaces.write(made, tmp_path)
    read, _ = facts(tmp_path)
    assert read.mxu_share is None
    assert any(op.flops for op in read.ops)
