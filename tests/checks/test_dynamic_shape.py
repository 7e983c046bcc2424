"""TPU102 on data without a fixed shape whose steps were static."""

from __future__ import annotations

import importlib
from dataclasses import replace

from tpudiag.model import Finding, Severity
from tpudiag.signals import EMPTY, DatasetOp, Pipeline, TensorSeen

dynamic_shape = importlib.import_module("tpudiag.checks.dynamic_shape").dynamic_shape
PADDED = DatasetOp(kind="PaddedBatchV2", batch_size=1024, drop_remainder=True)


def findings(data: tuple[int | None, ...], step: tuple[int | None, ...]) -> list[Finding]:
    """What is said of data of this shape, and a step that got the other."""
    pipeline = Pipeline(
        ops=(PADDED,), trains=True, distributed=True, elements=(TensorSeen("ids", "int32", data),)
    )
    signals = replace(EMPTY, step_inputs=(TensorSeen("ids", "int32", step),), pipelines=(pipeline,))
    return [item for item in dynamic_shape.function(signals) if isinstance(item, Finding)]


def test_an_open_length_that_was_the_same_in_all_steps_is_a_note() -> None:
    (note,) = findings((None, None), (128, 8))
    assert note.severity is Severity.INFO
    assert "int32[?, ?]" in note.message
    assert "int32[128, 8]" in str(note.evidence)


def test_a_fixed_length_is_silent() -> None:
    assert findings((1024, 8), (128, 8)) == []
