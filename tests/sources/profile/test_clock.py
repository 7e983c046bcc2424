"""One time scale for the lines of a file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.profile.events import Clock
from tpudiag.sources.profile.wire import Damaged

SINCE_EPOCH = 1_741_722_099_000_000_000


def line(timestamp_ns: int) -> Any:
    return SimpleNamespace(name="XLA Ops", timestamp_ns=timestamp_ns)


def test_times_since_the_epoch_fit_and_differences_stay() -> None:
    clock = Clock()
    clock.begin(iter([line(SINCE_EPOCH)]))
    clock.begin(iter([line(5)]))
    assert clock.start_ps(line(SINCE_EPOCH)) == 0
    assert clock.start_ps(line(SINCE_EPOCH + 7)) == 7_000
    assert clock.start_ps(line(SINCE_EPOCH - 7)) == -7_000
    with pytest.raises(Damaged, match=r"XLA Ops.*absurd time"):
        clock.start_ps(line(0))


def test_short_times_stand_as_they_are() -> None:
    clock = Clock()
    clock.begin(iter([]))
    assert clock.start_ps(line(212_990)) == 212_990_000
    assert clock.start_ps(line(0)) == 0
