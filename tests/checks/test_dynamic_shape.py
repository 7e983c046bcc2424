"""How sure TPU102 is of an unknown dimension, by where it was seen."""

from __future__ import annotations

import importlib

import pytest

from tpudiag.model import Check, Confidence, Finding, Severity
from tpudiag.signals import DatasetOp, Origin, Pipeline, Signals, TensorSeen

CHECK: Check = importlib.import_module("tpudiag.checks.dynamic_shape").dynamic_shape
TWICE_OPEN = TensorSeen("x", "float32", (None, None, 1))
BATCHED_TWICE = Pipeline(
    ops=(DatasetOp(kind="Batch", batch_size=16), DatasetOp(kind="Batch", batch_size=2)),
    elements=(TWICE_OPEN,), distributed=True,
)  # fmt: skip


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
