"""Rates of a host from the kernel's own counters, in files of our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tpudiag.monitoring.causes import host
from tpudiag.monitoring.causes.host import HostRing


def test_what_was_waited_is_measured_between_two_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "PRESSURE", tmp_path)
    monkeypatch.setattr(host, "CGROUPS", tmp_path / "none")
    clock = [0.0]
    ring = HostRing(os.getpid(), lambda: int(clock[0]), lambda: clock[0])
    for clock[0], waited_us in ((0.0, 5_000_000), (10.0, 9_000_000), (11.0, 9_000_000)):
        line = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={waited_us}\n"
        (tmp_path / "memory").write_text(line, encoding="ascii")
        ring.sample()
    (sample,) = ring.samples
    assert sample.memory_pressure == pytest.approx(40)
    assert sample.io_pressure is None, "a kernel without it"
    assert sample.cores >= 1
    assert sample.resident_gib > 0
