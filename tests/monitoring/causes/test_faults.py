"""A fault in real trainers, and its cause: bench_causes.py tries the others."""

from pathlib import Path

import pytest

from tests.monitoring import faults
from tpudiag.signals.causes import CauseKind

pytestmark = pytest.mark.slow


def test_a_slow_worker_among_four_is_named(tmp_path: Path) -> None:
    folder = faults.space(tmp_path / "job")
    asked = faults.asked(folder, "partner", workers=4, before_s=4.0, since_s=4.0)
    kinds = [cause.kind if cause else None for cause, _ in asked.causes.values()]
    assert kinds.count(CauseKind.PARTNER) == 3
    assert set(kinds) == {CauseKind.PARTNER, None}
    lines = {
        cause.text.partition(", which is at ")[2] for cause, _ in asked.causes.values() if cause
    }
    assert len(lines) == 1
    assert "(exchange)" in lines.pop()
    assert asked.took_s < 100
