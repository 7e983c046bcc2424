"""How many replicas a machine rehearses."""

import pytest

from tpudiag.signals import VariableSeen
from tpudiag.sources.job.process.host_memory import (
    is_heavy,
    replicas_in_time,
    replicas_in_trace,
    replicas_that_fit,
    shortage,
)
from tpudiag.sources.job.tensorflow.watches.variables import MANY


@pytest.mark.parametrize(
    ("step_flops", "replicas"),
    [(3e6, 8), (9e9, 8), (13e9, 8), (20e9, 8), (26e9, 3), (40e9, 2), (500e9, 1)],
)
def test_slow_steps_run_on_fewer_replicas_where_that_saves_a_start(
    step_flops: float, replicas: int
) -> None:
    assert replicas_in_time(step_flops, 8, cores=2) == replicas


def test_what_takes_long_to_trace_is_traced_on_fewer_replicas() -> None:
    assert [replicas_in_trace(forward_s, 8) for forward_s in (0.0, 2, 3, 5, 17)] == [8, 8, 8, 2, 2]
    assert replicas_in_trace(17, 2) == 2


def test_more_cores_take_more_replicas() -> None:
    assert replicas_in_time(30e9, 8, cores=64) == 8
    assert replicas_in_time(30e9, 1, cores=2) == 1


def test_what_takes_long_on_one_replica_alone_is_heavy() -> None:
    assert [is_heavy(flops, cores=2) for flops in (30e9, 50e9)] == [False, True]
    assert not is_heavy(50e9, cores=64)


def test_one_replica_too_large_is_said_before_the_memory_is_gone() -> None:
    kernel = VariableSeen(
        name="k",
        dtype="float32",
        shape=(40000, 40000),
        bytes=6 << 30,
        in_scope=True,
        trainable=True,
    )
    assert shortage((kernel,), 16 << 30) is None
    said = shortage((kernel, kernel), 9 << 30)
    assert said is not None
    assert "12.0 GiB so far" in said
    assert "9.0 GiB are left" in said


def test_models_of_many_variables_are_known_to_run_on_two_replicas_or_on_one() -> None:
    small = VariableSeen(
        name="v", dtype="float32", shape=(4,), bytes=16, in_scope=True, trainable=True
    )
    made = [replicas_that_fit((small,) * most, 8) for most in (66, MANY - 1, MANY, 400, 401)]
    assert made == [8, 3, 2, 2, 1] and replicas_that_fit((small,) * 401, 2) == 2
