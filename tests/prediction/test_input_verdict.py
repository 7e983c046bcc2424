"""Whether a host can feed a step."""

from __future__ import annotations

import pytest

from tpudiag.hardware import target
from tpudiag.prediction.input_verdict import verdict
from tpudiag.prediction.times import Range
from tpudiag.signals import DatasetOp, InputCost, Pipeline

PARALLEL = (
    DatasetOp(kind="ParallelMap", parallelism=-1),
    DatasetOp(kind="Prefetch", buffer_size=-1),
)
SERIAL = (DatasetOp(kind="Map"), DatasetOp(kind="Prefetch", buffer_size=-1))


def pipeline(ops: tuple[DatasetOp, ...], per_core: float, cores: float = 2.0) -> Pipeline:
    """Run alone for a second on so many cores."""
    examples = int(per_core * cores)
    return Pipeline(ops=ops, elements=(), cost=InputCost(examples, 1.0, cores, examples * 1000))


def needs(value: float) -> Range:
    return Range(0.8 * value, value, 1.2 * value)


def test_a_parallel_pipeline_has_the_hosts_cores() -> None:
    made = verdict(pipeline(PARALLEL, 2_250), needs(25_000), target("v5e-8"))
    assert made is not None
    assert made.starves is False
    assert made.cores_needed.value == pytest.approx(25_000 / 2_250)
    assert (made.vcpus, made.machine_type) == (224, "ct5lp-hightpu-8t")
    assert made.read_bytes_per_second == pytest.approx(25e6)


def test_a_serial_one_does_not() -> None:
    made = verdict(pipeline(SERIAL, 2_250, cores=1.0), needs(25_000), target("v5e-8"))
    assert made is not None
    assert made.starves is True
    assert made.waiting_share == pytest.approx(0.91, abs=0.01)


def test_within_the_errors_nothing_is_said() -> None:
    made = verdict(pipeline(PARALLEL, 140), needs(25_000), target("v5e-8"))
    assert made is not None
    assert made.starves is None


def test_hosts_share_what_is_needed() -> None:
    one = verdict(pipeline(PARALLEL, 100), needs(40_000), target("v5e-8"))
    four = verdict(pipeline(PARALLEL, 100), needs(40_000), target("v5e-16"))
    assert one is not None and four is not None
    assert four.needed.value == one.needed.value / 4


def test_a_pipeline_that_was_not_run_alone_has_no_verdict() -> None:
    assert verdict(Pipeline(ops=PARALLEL, elements=()), needs(1.0), target("v5e-8")) is None


def test_shuffling_and_batching_alone_are_no_parallel_work() -> None:
    ops = (
        DatasetOp(kind="TensorSlice"),
        DatasetOp(kind="Shuffle"),
        DatasetOp(kind="Batch", batch_size=8),
    )
    assert Pipeline(ops=ops, elements=()).serial
    assert not Pipeline(ops=PARALLEL, elements=()).serial
