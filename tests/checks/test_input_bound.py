"""Which fix TPU201 offers for what holds the input up."""

from __future__ import annotations

import importlib

import pytest

from tpudiag.model import Check, Finding
from tpudiag.signals import DatasetOp, Origin, Pipeline, Signals, StepTimes

CHECK: Check = importlib.import_module("tpudiag.checks.input_bound").input_bound


@pytest.mark.parametrize("python", [True, False])
def test_a_pipeline_that_waits_for_python_is_sent_to_files_and_not_to_a_cache(python: bool) -> None:
    source = DatasetOp(kind="FlatMap", python=python)
    signals = Signals(
        origin=Origin.REHEARSAL,
        steps=StepTimes(step_ms=(10.0,), input_wait_ms=(9.5,), source="p"),
        pipelines=(Pipeline(ops=(source,), elements=(), trains=True),),
    )
    (finding,) = [each for each in CHECK.function(signals) if isinstance(each, Finding)]
    assert ("TFRecord" in finding.fix) is python
    assert ("cache()" in finding.fix) is not python
