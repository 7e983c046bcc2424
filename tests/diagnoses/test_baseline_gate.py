"""The gate on what the compiler says."""

from dataclasses import replace

from tests import made
from tests.prediction import programs
from tpudiag.diagnoses import growth, predicted_step
from tpudiag.diagnoses.sides import held_against
from tpudiag.hardware import target
from tpudiag.model import Location, Report, TargetSummary
from tpudiag.prediction.work import Work
from tpudiag.report_figures import Measurement, OperationFigures

GIB = 2**30
V5E = target("v5e-4")
WORK = programs.work("embedding-v5e")
LARGEST = max((w for w in WORK if w.op_name), key=lambda w: w.hbm_bytes)


def report(work: tuple[Work, ...] = WORK, compiler: str = "libtpu 1", need: int = GIB) -> Report:
    """The report of a check whose step has this work."""
    cycles = sum((w.cycles or 0) * w.trips for w in work)
    lines = {LARGEST.op_name: "train.py:31"}
    step = programs.compiled(work, lines, 32, compiler, need, cycles)
    prediction = predicted_step.prediction(step)
    assert prediction is not None
    clock = Measurement(float(need % 97), "ms", "job, median of 20 steps on CPU replicas")
    return made.report(
        target=TargetSummary("v5e-4", 4),
        predictions=(prediction,),
        measurements={"step_time_ms": clock, **predicted_step.measurements(programs.signals(step))},
    )


THREEFOLD = replace(LARGEST, hbm_bytes=LARGEST.hbm_bytes * 3, cycles=(LARGEST.cycles or 0) * 3)
LARGER = tuple(THREEFOLD if w is LARGEST else w for w in WORK)
"""The same, with one operation of three times its bytes and cycles."""


def test_the_same_program_changes_nothing() -> None:
    gated, _ = held_against(report(), "main.json", report(), 0.0)
    assert not gated.regressed
    assert growth.grown(report(), report()) == ()


def test_what_grew_is_named_with_its_line() -> None:
    gated, verdict = held_against(report(), "main.json", report(LARGER), 0.02)
    assert gated.regressed
    assert "hbm_bytes_per_example" in verdict
    worst = growth.grown(report(), report(LARGER))[0]
    assert worst.operation == LARGEST.op_name
    assert str(worst.location) == "train.py:31"
    assert any("train.py:31" in note for note in gated.notes)


def test_times_of_cpu_replicas_close_no_gate() -> None:
    slower = report()
    clock = Measurement(1e6, "ms", "job, median of 20 steps on CPU replicas")
    slower = replace(slower, measurements={**slower.measurements, "step_time_ms": clock})
    assert not held_against(report(), "main.json", slower, 0.02)[0].regressed


def test_another_compiler_is_said_and_not_gated() -> None:
    gated, verdict = held_against(report(), "main.json", report(LARGER, compiler="libtpu 2"), None)
    assert any("compilers differ" in note for note in gated.notes)
    assert "Regressed" not in verdict


def test_more_hbm_closes_the_gate_and_less_does_not() -> None:
    more = report(need=2 * GIB)
    assert held_against(report(), "main.json", more, 0.02)[0].regressed
    assert not held_against(more, "main.json", report(), 0.02)[0].regressed


def test_a_run_without_the_compiler_closes_the_gate() -> None:
    silent = replace(report(), measurements={}, predictions=())
    gated, verdict = held_against(report(), "main.json", silent, 0.02)
    assert gated.regressed
    assert "does not tell" in verdict


def test_without_a_limit_it_only_tells() -> None:
    gated, _ = held_against(report(), "main.json", report(LARGER), None)
    assert not gated.regressed
    assert any(table.title == "What grew in the program" for table in gated.tables)


def operations(**factors: float) -> Report:
    """A report whose step has a product, its gradient, its update and copies without a line."""
    names = {
        "product": "model/dense/MatMul",
        "gradient": "gradient_tape/model/dense/MatMul/MatMul_1",
        "exchange": "sgd/XlaAllReduce",
        "update": "sgd/AssignAddVariableOp_6",
        "copies": "(copy)",
    }
    figures = tuple(
        OperationFigures(
            operation=name,
            location=None if key == "copies" else Location("train.py", line),
            cycles=round(1000 * factors.get(key, 1.0)),
            **dict.fromkeys(("flops", "hbm_bytes", "collective_bytes", "result_bytes"), 0),
        )
        for line, (key, name) in enumerate(names.items(), 1)
    )
    (step,) = report().predictions
    return replace(report(), predictions=(replace(step, operations=figures),))


def first_line(**factors: float) -> int | None:
    """The line that is named as what grew most."""
    location = growth.grown(operations(), operations(**factors))[0].location
    return location.line if location else None


def test_what_was_changed_stands_before_what_follows_from_it() -> None:
    assert first_line(product=1.5, gradient=2.0, exchange=3.0, update=3.0, copies=9.0) == 1
    assert first_line(product=1.01, update=2.0) == 4, "another optimizer: the product hardly grew"
    assert first_line(exchange=1.5, copies=2.0) == 3
    assert first_line(copies=2.0) is None
