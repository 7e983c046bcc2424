"""The batch of a step, from what reached a replica and how it was made."""

from dataclasses import replace

from tpudiag.model import Location
from tpudiag.signals import Batch, DatasetOp, Pipeline, TensorSeen
from tpudiag.sources.job.tensorflow.graphs.batches import batch_of, batch_of_arrays

HERE = Location("train.py", 7)


def made(size: int, trains: bool = True) -> Pipeline:
    op = DatasetOp(kind="BatchV2", batch_size=size, location=HERE)
    return Pipeline(ops=(op,), elements=(), location=HERE, trains=trains)


def reached(rows: int | None) -> tuple[TensorSeen, ...]:
    return (TensorSeen("image", "float32", (rows, 8)), TensorSeen("label", "int32", (rows,)))


def test_what_reached_a_replica_decides() -> None:
    assert batch_of(reached(32), (made(256),), 8, None) == Batch(256, 32, 8, HERE)
    assert batch_of(reached(32), (made(32),), 8, None) == Batch(256, 32, 8, HERE)
    assert batch_of(reached(32), (), 8, HERE) == Batch(256, 32, 8, HERE)


def test_a_batch_that_does_not_divide_is_the_jobs_own_number() -> None:
    assert batch_of(reached(13), (made(100),), 8, None) == Batch(100, 13, 8, HERE)


def test_without_inputs_the_pipeline_that_trains_tells() -> None:
    assert batch_of(reached(None), (made(64, trains=False), made(256)), 8, None) == Batch(
        256, 32, 8, HERE
    )
    assert batch_of((), (made(64, trains=False),), 8, None) is None


def test_an_open_batch_of_a_function_for_each_host_is_that_of_a_replica() -> None:
    of_function = replace(made(32), per_replica=True)
    assert batch_of(reached(None), (of_function,), 8, None) == Batch(256, 32, 8, HERE)


def test_keras_leaves_the_batch_of_arrays_open_and_its_size_is_what_fit_was_told() -> None:
    assert batch_of(reached(None), (), 8, HERE, 64) == Batch(64, 8, 8, HERE)
    assert batch_of(reached(None), (made(256),), 8, HERE, 64) == Batch(256, 32, 8, HERE)
    assert batch_of(reached(None), (), 8, HERE, 4) == Batch(4, 1, 8, HERE)
    assert batch_of_arrays([1.0], None) == batch_of_arrays({"image": [1.0]}, None) == 32
    assert batch_of_arrays([1.0], 64) == 64
    assert batch_of_arrays(object(), None) is None
    assert batch_of_arrays(None, None) is None
