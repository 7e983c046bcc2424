"""How many replicas a machine rehearses."""

from __future__ import annotations

import pytest

from tpudiag.sources.job.process.host_memory import replicas_in_time


@pytest.mark.parametrize(
    ("forward_flops", "replicas"),
    [(1e6, 8), (3e9, 8), (10e9, 2), (40e9, 2), (500e9, 1)],
)
def test_slow_steps_run_on_fewer_replicas(forward_flops: float, replicas: int) -> None:
    assert replicas_in_time(forward_flops, 8, cores=2) == replicas


def test_more_cores_take_more_replicas() -> None:
    assert replicas_in_time(10e9, 8, cores=64) == 8
    assert replicas_in_time(10e9, 1, cores=2) == 1
