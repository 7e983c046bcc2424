"""The predicted step as a report shows it."""

from dataclasses import replace

import pytest

from tests.checks.rehearsal import STATE, of_jax
from tests.prediction import programs
from tests.prediction.programs import signals
from tpudiag.compiled import Compilation, CompilerFacts
from tpudiag.diagnoses import predicted_step
from tpudiag.hardware import target
from tpudiag.model import Location
from tpudiag.signals import Dispatch, InputCost, Origin, Pipeline, Signals
from tpudiag.sources.compiler.libtpu_process import timed

GIB = 2**30
V5E = target("v5e-4")
LINE = "train.py:31"


def compiled() -> Compilation:
    """The tied embeddings with Adam, as if they had been compiled for a v5e-4."""
    work = programs.work("embedding-v5e")
    return programs.compiled(work, {work[-1].op_name: LINE})


def test_the_figures_carry_their_range_and_the_word_predicted() -> None:
    figures = predicted_step.measurements(signals(compiled()))
    step = figures["predicted_step_ms"]
    assert step.low is not None and step.high is not None
    assert step.low < float(step.value) < step.high
    assert all("predicted" in m.source for name, m in figures.items() if "predicted" in name)
    assert figures["predicted_bound_by"].value == "HBM"
    assert figures["hbm_need_bytes"].value == GIB
    assert {
        "predicted_mfu",
        "predicted_examples_per_second",
        "predicted_examples_per_second_per_chip",
        "flops_per_example",
        "hbm_bytes_per_example",
        "collective_bytes_per_step",
        "compiler_cycles_per_example",
        "input_needed_examples_per_second_per_host",
    } <= set(figures)
    unknown = predicted_step.measurements(replace(signals(compiled()), batch=None))
    assert {name for name in figures if "example" not in name} == set(unknown)


def test_devices_that_a_step_leaves_out_take_no_examples() -> None:
    rates: list[float] = []
    for devices in (8, 1):
        seen = replace(signals(compiled()), sharding=of_jax(STATE, devices=devices).sharding)
        rate = predicted_step.measurements(seen)["predicted_examples_per_second"]
        rates.append(float(rate.value))
    assert rates[0] == pytest.approx(4 * rates[1], rel=1e-3)


def test_without_a_program_there_is_no_prediction() -> None:
    nothing = replace(compiled(), program=None, predicted=None)
    assert predicted_step.of_signals(signals(nothing)) is None
    assert "predicted_step_ms" not in predicted_step.measurements(signals(nothing))
    assert predicted_step.measurements(Signals(origin=Origin.REHEARSAL)) == {}


def test_the_pipeline_is_told_without_the_compiler() -> None:
    cost = InputCost(
        examples=1000, seconds=0.5, cpu_seconds=1.0, read_bytes=4000, python_seconds=0.1
    )
    alone = Signals(
        origin=Origin.REHEARSAL,
        target=V5E,
        pipelines=(Pipeline(ops=(), elements=(), trains=True, cost=cost),),
        compiler=CompilerFacts(reason="the TPU compiler was not asked", how=""),
    )
    figures = predicted_step.measurements(alone)
    core = figures["input_examples_per_second_per_core"]
    assert (core.low, core.value, core.high) == (800.0, 1000.0, 1200.0)
    assert figures["input_cpu_us_per_example"].value == 1000.0
    assert figures["input_python_us_per_example"].value == 100.0
    assert figures["input_read_bytes_per_example"].value == 4.0
    assert not any(name.startswith("predicted") for name in figures)
    both = predicted_step.measurements(replace(signals(compiled()), pipelines=alone.pipelines))
    assert figures.keys() < both.keys()


def test_operations_are_summed_and_bear_the_users_line() -> None:
    step = predicted_step.prediction(compiled())
    assert step is not None
    assert sum(o.flops for o in step.operations) > 0
    assert Location("train.py", 31) in [o.location for o in step.operations]
    assert len(predicted_step.table(step).rows) == 10


def test_steps_of_one_dispatch_share_its_cost() -> None:
    program = compiled().program
    assert program is not None
    small = timed(replace(compiled(), program=replace(program, cycles=1, work=())), V5E)
    alone = signals(small)
    fifty = Dispatch(steps=100, steps_per_dispatch=50)
    many = predicted_step.dispatched(replace(alone, dispatch=fifty))
    assert many.compiler is not None and many.compiler.step is not None
    assert many.compiler.step.predicted is not None and small.predicted is not None
    assert many.compiler.step.predicted.ms.value < small.predicted.ms.value
