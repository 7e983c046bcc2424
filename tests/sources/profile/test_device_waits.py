from pathlib import Path

import pytest

from tests.sources.profile import spaces
from tpudiag.sources.profile import facts


def test_what_devices_wait_for_is_split(tmp_path: Path) -> None:
    made = spaces.space()
    for ordinal in range(2):
        late = 4.0 * ordinal
        modules: list[tuple[str, float, float]] = []
        ops: list[tuple[str, str, float, float]] = []
        for start in (100.0, 150.0, 200.0):
            modules.append(("jit_train(1)", start, 20.0))
            ops += [
                ("infeed.1", "infeed", start, 2.0),
                ("fusion.1", "loop fusion", start + 2, 6.0 + late),
                ("all-reduce.1", "all-reduce", start + 8 + late, 12.0 - late),
            ]
        spaces.add_device(made, ordinal, modules, ops)
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
