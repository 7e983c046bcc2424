"""How sure TPU102 is of an unknown dimension, by where it was seen."""

from __future__ import annotations

import importlib
from dataclasses import replace

import pytest

from tpudiag.model import Check, Confidence, Finding, Severity
from tpudiag.signals import DatasetOp, Origin, Pipeline, Signals, TensorSeen

CHECK: Check = importlib.import_module("tpudiag.checks.dynamic_shape").dynamic_shape
PADDED = DatasetOp(kind="PaddedBatchV2", batch_size=1024, drop_remainder=True)
TWICE_OPEN = TensorSeen("x", "float32", (None, None, 1))
BATCHED_TWICE = Pipeline(
    ops=(DatasetOp(kind="Batch", batch_size=16), DatasetOp(kind="Batch", batch_size=2)),
    elements=(TWICE_OPEN,),
    distributed=True,
)


def finding(inputs: tuple[TensorSeen, ...]) -> Finding:
    signals = Signals(origin=Origin.REHEARSAL, pipelines=(BATCHED_TWICE,), step_inputs=inputs)
    (only,) = [each for each in CHECK.function(signals) if isinstance(each, Finding)]
    return only


@pytest.mark.parametrize(("inputs", "sure"), [((TWICE_OPEN,), True), ((), False)])
def test_only_what_a_step_was_seen_to_take_is_an_error(
    inputs: tuple[TensorSeen, ...], sure: bool
) -> None:
    told = finding(inputs)
    assert (told.severity is None) is sure
    assert (told.severity is Severity.WARNING) is not sure
    assert (told.confidence is Confidence.HIGH) is sure


def test_data_of_no_fixed_shape_are_a_note_where_the_steps_were_static() -> None:
    data = replace(BATCHED_TWICE, ops=(PADDED,), elements=(TensorSeen("x", "int32", (None, None)),))
    static = TensorSeen("x", "int32", (128, 8))
    signals = Signals(origin=Origin.REHEARSAL, pipelines=(data,), step_inputs=(static,))
    (note,) = [each for each in CHECK.function(signals) if isinstance(each, Finding)]
    assert note.severity is Severity.INFO
    assert "int32[?, ?]" in note.message
    assert "int32[128, 8]" in str(note.evidence)
