from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tpudiag.sources.profile import facts


def called(spaces: ModuleType, kinds: tuple[str, ...]) -> Any:
    made = spaces.space()
    plane = spaces.Plane(made, "/host:CPU")
    python, kernels = plane.line("python"), plane.line("tf_Compute/1")
    for number, kind in enumerate(kinds):
        start = 10.0 + 30 * number
        event = plane.event(python, ("train_function", start, 8.0))
        event.stats.add(metadata_id=plane.stat_id("tf_function_call")).ref_value = plane.stat_id(
            kind
        )
        plane.event(kernels, ("ExecutorState::Process", start + 1, 6.0))
    return made


def test_one_call_of_a_training_function_on_a_cpu_is_one_step(
    spaces: ModuleType, tmp_path: Path
) -> None:
    found, steps = facts(spaces.write(called(spaces, ("notTraced-nonXla",)), tmp_path))
    assert steps
    assert steps.step_ms == (8.0,)
    assert "1 whole call of tf.function 'train_function'" in steps.source
    assert found.replicas[0].part("compute") == pytest.approx(6.0)


def test_a_call_that_traced_is_no_step(spaces: ModuleType, tmp_path: Path) -> None:
    kinds = ("traced-nonXla", "notTraced-nonXla")
    assert facts(spaces.write(called(spaces, kinds[:1]), tmp_path))[1] is None
    steps = facts(spaces.write(called(spaces, kinds), tmp_path))[1]
    assert steps
    assert len(steps.step_ms) == 1
