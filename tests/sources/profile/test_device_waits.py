from pathlib import Path

import pytest

from tests.sources.profile import spaces
from tpudiag.sources.profile import facts


def test_what_devices_wait_for_is_split(tmp_path: Path) -> None:
    made = spaces.space()
    for ordinal in range(2):
        spans = [(start, 20.0) for start in (100.0, 150.0, 200.0)]
        fused = ("fusion.1", "loop fusion", 6.0 + 4.0 * ordinal)
        ops = (("infeed.1", "infeed", 2.0), fused, ("all-reduce.1", "all-reduce", None))
        spaces.add_steps(made, ordinal, spans, ops, "jit_train", None)
    spaces.add_host(made, (), asked=[("python", 120.0, 10.0)])
    found, _ = facts(spaces.write(made, tmp_path))
    waits = {wait.cause: wait.ms for wait in found.waits}
    assert waits["input (infeed)"] == pytest.approx(2 * 3 * 2.0)
    assert waits["a partner that is late for a collective"] == pytest.approx(3 * 4.0)
    assert waits["input (the host's iterator)"] == pytest.approx(2 * 10.0)
    assert waits["the host's next dispatch"] == pytest.approx(2 * (20.0 + 30.0))


def test_an_idle_device_waits_for_one_that_runs(tmp_path: Path) -> None:
    made = spaces.space()
    spaces.add_device(made, 0, [("a", 0.0, 10.0), ("a", 30.0, 10.0)])
    spaces.add_device(made, 1, [("a", 0.0, 25.0), ("a", 30.0, 10.0)])
    found, _ = facts(spaces.write(made, tmp_path))
    waits = {wait.cause: wait.ms for wait in found.waits}
    assert waits["other devices of the host, which still run"] == pytest.approx(15.0)
    assert waits["the host's next dispatch"] == pytest.approx(10.0)
