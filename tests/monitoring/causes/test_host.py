"""Rates of a host from the kernel's own counters, in files of our own."""

import os
from pathlib import Path

import pytest

from tpudiag.monitoring.causes import host
from tpudiag.monitoring.causes.host import HostRing
from tpudiag.sources.live import cgroups


def test_what_was_waited_is_measured_between_two_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "PRESSURE", tmp_path / "memory")
    monkeypatch.setattr(cgroups, "ROOT", tmp_path / "none")
    clock = [0.0]
    ring = HostRing(os.getpid(), lambda: int(clock[0]), lambda: clock[0])
    for clock[0], waited_us in ((0.0, 5_000_000), (10.0, 9_000_000), (11.0, 9_000_000)):
        line = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={waited_us}\n"
        (tmp_path / "memory").write_text(line, encoding="ascii")
        ring.sample()
    (sample,) = ring.samples
    assert sample.memory_pressure == pytest.approx(40)
    assert sample.cores >= 1
    assert sample.resident_gib > 0


@pytest.mark.parametrize(
    ("where", "stat"),
    [
        ("", "nr_throttled 7\nthrottled_usec 3500000\n"),
        ("cpu,cpuacct", "nr_throttled 7\nthrottled_time 3500000000\n"),
        ("cpu", "nr_throttled 7\nthrottled_time 3500000000\n"),
    ],
)
def test_a_limit_of_either_version_is_read(tmp_path: Path, where: str, stat: str) -> None:
    folder = tmp_path / where
    folder.mkdir(exist_ok=True)
    (folder / "cpu.stat").write_text(stat, encoding="ascii")
    assert cgroups.throttled_s(folder) == pytest.approx(3.5)
    assert cgroups.throttled_s(None) is None


def test_a_kill_for_memory_is_seen_by_its_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vmstat").write_text("nr_free_pages 9\noom_kill 3\n", encoding="ascii")
    monkeypatch.setattr(cgroups, "VMSTAT", tmp_path / "vmstat")
    monkeypatch.setattr(cgroups, "ROOT", tmp_path / "none")
    ring = HostRing(os.getpid(), lambda: 0)
    assert ring.killed_by() is None
    (tmp_path / "vmstat").write_text("oom_kill 4\n", encoding="ascii")
    assert "for want of memory" in (ring.killed_by() or "")
