"""What the Python of a replica's function finds, replica after replica."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.job.points import barrier, python_slots
from tpudiag.sources.job.tensorflow.devices.tpu_strategy import started_alike


class Job:
    """Counts and draws in the step, as people do."""

    def __init__(self) -> None:
        self.steps = 0
        self.rate = 0.5

    def step(self, x: int) -> tuple[int, float, float]:
        self._count()
        return x * self.steps, random.random(), float(np.random.uniform())

    def _count(self) -> None:
        self.steps += 1


def test_each_replica_starts_from_the_same_numbers_and_draws() -> None:
    job = Job()
    for run in (1, 2):
        replica = started_alike(job.step)
        results = {replica(10) for _ in range(8)}
        assert len(results) == 1
        assert job.steps == run


def test_the_next_run_draws_anew() -> None:
    job = Job()
    first: Any = started_alike(job.step)(1)
    second: Any = started_alike(job.step)(1)
    assert first[1:] != second[1:]


def test_a_variable_of_a_closure_is_one_too() -> None:
    calls = 0

    def step() -> int:
        nonlocal calls
        calls += 1
        return calls

    replica = started_alike(step)
    assert [replica(), replica()] == [1, 1]


def test_what_fails_in_ours_is_noted_and_the_step_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(value: object) -> None:
        raise MemoryError(value)

    def slots(_: object) -> tuple[SimpleNamespace, ...]:
        return (SimpleNamespace(get=lambda: 3, put=full),)

    monkeypatch.setattr(python_slots, "written_slots", slots)
    barrier.forget()
    assert started_alike(lambda: 7)() == 7
    assert [defect.error for defect in barrier.defects()] == ["MemoryError: 3"]
    barrier.forget()
