"""How sure TPU102 is of an unknown dimension, by where it was seen."""

from dataclasses import replace
from typing import Any

import pytest

from tests.checks.rehearsal import HERE, examine, found, traced
from tpudiag.model import Confidence, Finding, Location, Severity
from tpudiag.signals import (
    ArgumentChange,
    Batch,
    DatasetOp,
    Origin,
    Pipeline,
    Retrace,
    Signals,
    TensorSeen,
)

PADDED = DatasetOp(kind="PaddedBatchV2", batch_size=1024, drop_remainder=True)
TWICE_OPEN = TensorSeen("x", "float32", (None, None, 1))
BATCHED_TWICE = Pipeline(
    ops=(DatasetOp(kind="Batch", batch_size=16), DatasetOp(kind="Batch", batch_size=2)),
    elements=(TWICE_OPEN,),
    distributed=True,
)
OF_ONE_SHAPE = replace(BATCHED_TWICE, ops=(PADDED,), shapes=(((), (12, 2)),))


def told_of(pipeline: Pipeline, *inputs: TensorSeen, **more: Any) -> Finding:
    (only,) = found("TPU102", pipelines=(pipeline,), step_inputs=inputs, **more)
    return only


@pytest.mark.parametrize(("inputs", "sure"), [((TWICE_OPEN,), True), ((), False)])
def test_only_what_a_step_was_seen_to_take_is_an_error(
    inputs: tuple[TensorSeen, ...], sure: bool
) -> None:
    told = told_of(BATCHED_TWICE, *inputs)
    assert (told.severity is None) is sure
    assert (told.severity is Severity.WARNING) is not sure
    assert (told.confidence is Confidence.HIGH) is sure


def test_an_open_dataset_beside_a_fixed_one_is_not_told_before_a_step_took_one() -> None:
    fixed = replace(BATCHED_TWICE, elements=(TensorSeen("x", "float32", (8, 4)),))
    both = Signals(origin=Origin.REHEARSAL, pipelines=(fixed, BATCHED_TWICE))
    assert "which dataset feeds the training step" in (examine(both, "TPU102").reason or "")


def test_data_of_no_fixed_shape_are_a_note_where_the_steps_were_static() -> None:
    data = replace(BATCHED_TWICE, ops=(PADDED,), elements=(TensorSeen("x", "int32", (None, None)),))
    static = TensorSeen("x", "int32", (128, 8))
    note = told_of(data, static)
    assert note.severity is Severity.INFO
    assert "int32[?, ?]" in note.message
    assert "int32[128, 8]" in str(note.evidence)
    again = Retrace(25, 900.0, (ArgumentChange("x", "i[128, 8]", "i[128, 9]", "shape"),), None)
    told = told_of(data, static, functions=(traced("step", 30, again),))
    assert told.severity is Severity.WARNING
    assert "same shapes" not in told.message


@pytest.mark.parametrize(
    ("pads", "fix"), [(False, "tf.ensure_shape(x, [12, 2])"), (True, "padded_shapes=([12, 2], ")]
)
def test_batches_that_all_had_one_shape_get_it_as_the_fix(pads: bool, fix: str) -> None:
    batches = replace(OF_ONE_SHAPE, ops=(replace(PADDED, pads=pads),))
    only = told_of(batches, TensorSeen("x", "float32", (16, None, 2)))
    assert only.severity is Severity.WARNING
    assert fix in (only.fix or "")


def test_a_shape_that_does_not_fit_the_tensor_is_no_fix() -> None:
    for shape in ((16, None, 3), None):
        only = told_of(OF_ONE_SHAPE, TensorSeen("x", "float32", shape))
        assert "ensure_shape" not in (only.fix or "")


def test_no_batch_of_one_is_smaller_than_another() -> None:
    single = replace(BATCHED_TWICE, ops=(DatasetOp(kind="Batch", batch_size=1),))
    note = told_of(single, TensorSeen("x", "float32", (None, 256, 256, 3)))
    assert note.severity is Severity.INFO
    assert "may be smaller" not in note.message


def test_a_batch_that_the_replicas_cannot_share_evenly_is_open_for_that_alone() -> None:
    even = DatasetOp(kind="BatchV2", batch_size=100, drop_remainder=True)
    share = TensorSeen("x", "float32", (None, 256, 256, 3))
    pipeline = Pipeline(ops=(even,), elements=(share,), distributed=True, trains=True)
    batch = Batch(per_replica_batch=12, global_batch=100, replicas=8)
    only = told_of(pipeline, share, batch=batch)
    assert "no multiple of 8 replicas" in only.message and only.fix.startswith("global_batch = 96")
    # A map, as of Keras' text vectorization, forgets how many there are.
    pipeline = replace(pipeline, ops=(replace(even, batch_size=9), even))  # windows of 9
    only = told_of(pipeline, share, batch=replace(batch, global_batch=96))
    assert "every batch is of 100" in only.message and "ensure_shape" in only.fix


@pytest.mark.parametrize(
    ("batched", "own", "severity", "said"),
    [
        ("PaddedBatch", None, Severity.WARNING, "of whose arrays Keras tells TensorFlow no size"),
        ("PaddedBatch", HERE, None, "an example's own shape is not fixed"),
        ("GroupByWindow", HERE, Severity.INFO, "2 shapes were seen, of buckets"),
    ],
)
def test_lengths_of_a_few_buckets_are_a_note_and_a_generator_of_keras_tells_none(
    batched: str, own: Location | None, severity: Severity | None, said: str
) -> None:
    made = DatasetOp(kind="FlatMap", python=True, location=own), DatasetOp(kind=batched)
    seen = Pipeline(ops=made, elements=(), shapes=(((32,),), ((64,),)))
    told = told_of(seen, TensorSeen("x", "int32", (None, None)))
    assert told.severity is severity and said in told.message
    assert ("bucket" in told.fix) == (batched == "GroupByWindow"), "they stay buckets"
