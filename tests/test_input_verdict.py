"""Whether a host can feed a step."""

from dataclasses import replace
from typing import Any

import pytest

from tpudiag.hardware import target
from tpudiag.input_verdict import HANDED_US, InputVerdict, on_cores, verdict
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


def told(ops: tuple[DatasetOp, ...], **measured: Any) -> Pipeline:
    """Run alone for a second on two cores: 1,000 examples, 1 ms of CPU each but what is said."""
    cost = InputCost(1000, 1.0, 1.0, 1000, cores=2, serial_seconds=0.0)
    return Pipeline(ops=ops, elements=(), cost=replace(cost, **measured))


GENERATOR = (
    DatasetOp(kind="FlatMap", python=True),
    DatasetOp(kind="Batch", batch_size=64),
    DatasetOp(kind="Prefetch", buffer_size=-1),
)


def judged(measured: Pipeline, examples_per_s: float, slice_: str = "v5e-8") -> InputVerdict:
    """Whether hosts of a slice feed a step with a pipeline that was run alone."""
    needed = Range(0.8 * examples_per_s, examples_per_s, 1.2 * examples_per_s)
    made = verdict(measured, needed, target(slice_))
    assert made is not None
    return made


def test_a_parallel_pipeline_has_the_hosts_cores() -> None:
    made = judged(pipeline(PARALLEL, 2_250), 25_000)
    assert made.starves is False
    assert made.cores_needed.value == pytest.approx(25_000 / 2_250)
    assert (made.host.vcpus, made.host.machine_type) == (224, "ct5lp-hightpu-8t")
    assert made.read_bytes_per_second == pytest.approx(25e6)


def test_a_serial_one_does_not() -> None:
    made = judged(pipeline(SERIAL, 2_250, cores=1.0), 25_000)
    assert made.starves is True
    assert made.waiting_share == pytest.approx(0.91, abs=0.01)


def test_within_the_errors_nothing_is_said() -> None:
    made = judged(pipeline(PARALLEL, 140), 25_000)
    assert made.starves is None


def test_hosts_share_what_is_needed() -> None:
    one = judged(pipeline(PARALLEL, 100), 40_000)
    four = judged(pipeline(PARALLEL, 100), 40_000, "v5e-16")
    assert four.needed.value == one.needed.value / 4


def test_a_pipeline_that_was_not_run_alone_has_no_verdict() -> None:
    assert verdict(Pipeline(ops=PARALLEL, elements=()), Range(1, 1, 1), target("v5e-8")) is None


def test_shuffling_and_batching_alone_are_no_parallel_work() -> None:
    ops = (
        DatasetOp(kind="TensorSlice"),
        DatasetOp(kind="Shuffle"),
        DatasetOp(kind="Batch", batch_size=8),
    )
    assert Pipeline(ops=ops, elements=()).serial
    assert not Pipeline(ops=PARALLEL, elements=()).serial


def test_python_is_not_faster_on_224_vcpus() -> None:
    made = judged(told(GENERATOR, serial_seconds=0.8, python_seconds=0.8), 25_000)
    assert made.starves is True and made.serial is True
    assert made.cost.python_s_per_example == pytest.approx(0.8e-3)
    assert 400 < made.capacity.low < made.capacity.value < made.capacity.high < 4_000


def test_a_single_reader_before_a_parallel_map_decides_by_what_it_takes_alone() -> None:
    reader = DatasetOp(kind="TFRecord", reads_files=True)
    made = judged(told((reader, *PARALLEL), serial_seconds=0.01), 20_000)
    assert made.starves is False  # 10 us of an example on one thread: 50,000 a second at least
    slow = judged(told((reader, *PARALLEL), serial_seconds=0.3), 20_000)
    assert slow.starves is True and slow.serial is True


def test_parallel_calls_into_python_wait_for_each_other() -> None:
    calls = DatasetOp(kind="ParallelMap", parallelism=-1, python=True)
    assert judged(told((calls, *PARALLEL[1:])), 25_000).starves is True


def test_two_cores_from_one() -> None:
    parallel = (*PARALLEL[:1], DatasetOp(kind="Batch", batch_size=64))
    pipeline = told(parallel, cores=1)
    assert pipeline.cost is not None and pipeline.handed_per_example == 1
    two = on_cores(pipeline, pipeline.cost, 2)
    assert two.low < two.value < two.high == pytest.approx(2_000)  # a hand-over costs nothing
    assert two.value == pytest.approx(2_000 / (1 + 1e-3 * HANDED_US[1]))
    assert on_cores(pipeline, pipeline.cost, 1).value == pytest.approx(1_000)
    batched = told((DatasetOp(kind="Batch", batch_size=64), *PARALLEL[:1]))
    assert batched.handed_per_example == pytest.approx(1 / 64)


def test_one_thread_hands_out_the_examples_of_a_map() -> None:
    quick = told((*PARALLEL[:1], DatasetOp(kind="Batch", batch_size=64)), cpu_seconds=0.01)
    few, many = (on_cores(quick, quick.cost, cores) for cores in (2, 1_000) if quick.cost)
    assert many.value == few.value < 100_000
    made = judged(quick, 1e7)
    assert made is not None
    assert (made.starves, made.serial, made.handing_out) == (True, True, True)
    batched = told((DatasetOp(kind="Batch", batch_size=64), *PARALLEL[:1]), cpu_seconds=0.01)
    assert [judged(each, 1e5).starves for each in (quick, batched)] == [None, False]


def test_what_was_handed_out_here_can_be_handed_out() -> None:
    quick = told(PARALLEL, examples=1_000_000, cpu_seconds=1.0)
    assert quick.cost is not None
    assert on_cores(quick, quick.cost, 224).low >= 1e6
    alone = replace(quick.cost, cores=1)  # a single core wakes no thread on another
    assert on_cores(quick, alone, 224).low < 1e5
