"""Which fix TPU201 offers for what holds the input up."""

from dataclasses import replace
from typing import Any

import pytest

from tests.checks.rehearsal import HERE, examine, found, h, of_work, waits
from tests.checks.test_compiled import FACTS, STEP, predicted
from tpudiag.compiled import CompilerFacts
from tpudiag.model import Framework
from tpudiag.signals import DatasetOp, InputCost, Origin, Pipeline, Signals


@pytest.mark.parametrize("python", [True, False])
def test_a_pipeline_that_waits_for_python_is_sent_to_files_and_not_to_a_cache(python: bool) -> None:
    read = Pipeline(ops=(DatasetOp(kind="FlatMap", python=python),), elements=())
    (finding,) = found("TPU201", steps=waits(9.5), pipelines=(read,))
    assert ("TFRecord" in finding.fix) is python
    assert ("cache()" in finding.fix) is not python


def test_what_the_pipeline_has_already_is_not_advised() -> None:
    has = tuple(DatasetOp(kind=kind) for kind in ("Map", "Cache", "Map", "Batch", "Prefetch"))
    (finding,) = found("TPU201", steps=waits(9.5), pipelines=(Pipeline(ops=has, elements=()),))
    assert finding.fix == "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)"
    (finding,) = found("TPU201", steps=waits(9.5), pipelines=(Pipeline(ops=has[:2], elements=()),))
    assert "map(" not in finding.fix, "what the cache keeps is done once"


@pytest.mark.parametrize(
    ("stood_in", "cost", "why"),
    [
        (("gs://b/x: 512 records",), None, "stood in for"),
        ((), None, "not run alone"),
        ((), InputCost(examples=100, seconds=1.0, cpu_seconds=1.0), "not predicted"),
    ],
)
def test_what_is_not_predicted_of_the_wait_is_told_with_its_reason(
    stood_in: tuple[str, ...], cost: InputCost | None, why: str
) -> None:
    read = Pipeline(ops=(DatasetOp(kind="TensorSlice"),), elements=(), cost=cost)
    given: dict[str, Any] = {"steps": waits(0.1), "pipelines": (read,), "stood_in": stood_in}
    assert why in (examine(Signals(origin=Origin.REHEARSAL, **given), "TPU201").reason or "")


@pytest.mark.parametrize("framework", Framework)
@pytest.mark.parametrize(("kind", "fix"), [("Map", "map(f, "), ("ParallelMap", "batch(")])
def test_a_serial_map_is_made_parallel_before_anything_else(
    kind: str, fix: str, framework: Framework
) -> None:
    cost = InputCost(examples=1_000, seconds=1.0, cpu_seconds=1.0, cores=2, serial_seconds=0.5)
    ops = (DatasetOp(kind=kind), DatasetOp(kind="Batch", batch_size=1_024))
    facts = CompilerFacts(FACTS.lowered, replace(STEP, predicted=predicted(20.0, 0.01)))
    read = Pipeline(ops=ops, elements=(), cost=cost)
    signals = h(framework=framework, steps=waits(0.1), pipelines=(read,), compiler=facts)
    (finding,) = examine(signals, "TPU201").findings
    assert finding.fix.startswith(f"dataset = dataset.{fix}")


@pytest.mark.parametrize(("seconds", "failed"), [(0.1, True), (0.001, False)])
def test_a_pipeline_of_many_batches_a_second_holds_nothing_up(seconds: float, failed: bool) -> None:
    cost = InputCost(examples=1_000, seconds=seconds, cpu_seconds=seconds, cores=2)
    ops = (DatasetOp(kind="TensorSlice"), DatasetOp(kind="Batch", batch_size=1_024))
    facts = CompilerFacts(FACTS.lowered, replace(STEP, predicted=predicted(0.02, 0.01)))
    read = Pipeline(ops=ops, elements=(), cost=cost)
    findings = examine(h(steps=waits(0.1), pipelines=(read,), compiler=facts), "TPU201").findings
    assert bool(findings) is failed
    assert not any("cache" in finding.fix for finding in findings), "arrays are in memory already"


@pytest.mark.parametrize("by_fit", [False, True])
def test_a_loop_of_its_own_may_do_more_than_read_between_two_steps(*, by_fit: bool) -> None:
    signals = of_work(made_alone_ms=80.0)
    assert signals.sharding is not None
    signals = replace(signals, sharding=replace(signals.sharding, by_fit=by_fit, read_at=HERE))
    (finding,) = examine(signals, "TPU201").findings
    assert finding.location == HERE
    assert ("operations of JAX" in finding.message) != by_fit
    assert ("of arrays" in finding.fix) == by_fit
