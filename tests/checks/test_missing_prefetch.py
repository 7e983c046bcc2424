"""Which pipelines the checks of the input judge."""

from dataclasses import replace
from importlib import import_module

from tpudiag.model import Location
from tpudiag.signals import DatasetOp, Origin, Pipeline, Signals

own_pipelines = import_module("tpudiag.checks.missing_prefetch").own_pipelines
BATCH = DatasetOp(kind="Batch", batch_size=128, location=Location("train.py", 7))
MADE = Pipeline(ops=(BATCH,), elements=())


def judged(*pipelines: Pipeline) -> tuple[Pipeline, ...]:
    signals = Signals(origin=Origin.REHEARSAL, pipelines=pipelines)
    found: tuple[Pipeline, ...] = own_pipelines(signals)
    return found


def test_a_pipeline_that_a_function_made_twice_is_judged_once() -> None:
    again = replace(MADE, passes=3)
    assert judged(MADE, again) == (MADE,)


def test_pipelines_of_other_lines_are_each_judged() -> None:
    other = replace(MADE, ops=(replace(MADE.ops[0], location=Location("train.py", 9)),))
    assert judged(MADE, other, replace(MADE, trains=False)) == (MADE, other)
