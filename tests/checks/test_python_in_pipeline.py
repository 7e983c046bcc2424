"""A generator is the user's, unless the data of a package are stood in for by one."""

from __future__ import annotations

from importlib import import_module

from tpudiag.model import Check, Finding, Location
from tpudiag.signals import DatasetOp, Origin, Pipeline, Signals

CHECK: Check = import_module("tpudiag.checks.python_in_pipeline").python_in_pipeline
GENERATED = Pipeline(
    ops=(DatasetOp(kind="FlatMap", python=True, location=Location("train.py", 3)),), elements=()
)


def findings(*stood_in: str) -> list[Finding]:
    signals = Signals(origin=Origin.REHEARSAL, pipelines=(GENERATED,), stood_in=stood_in)
    return [each for each in CHECK.function(signals) if isinstance(each, Finding)]


def test_a_generator_of_ours_is_not_the_users() -> None:
    assert findings("gs://bucket/a.tfrecord")
    assert not findings("tfds mnist")
