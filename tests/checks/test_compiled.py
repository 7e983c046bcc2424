"""The checks over what the TPU compiler says of a step."""

from dataclasses import replace
from typing import Any

import pytest

from tests import made
from tests.checks.rehearsal import SHARD, STATE, examine, h, installed, of_jax, product
from tests.prediction.programs import PLAIN
from tpudiag.compiled import (
    Collective,
    Compilation,
    CompilerFacts,
    HbmTensor,
    LoweredStep,
    OutOfMemory,
    RefusedOp,
)
from tpudiag.hardware import target
from tpudiag.model import Framework, Location, Outcome, Severity, Verdict
from tpudiag.prediction.step import PredictedStep
from tpudiag.prediction.times import Bound, Range
from tpudiag.signals import Batch, MixedPrecision, Origin, Signals, StepOp, StepOps, TensorSeen

GIB = 2**30
HERE = Location("train.py", 7)
V5E = target("v5e-8")
PROGRAM = replace(
    PLAIN,
    cycles=1_500_000,
    padded=(HbmTensor("dense/kernel", "f32[128,10]{0,1:T(8,128)}", 5120, 8192),),
    collectives=(Collective("all-reduce", 1, 100_000),),
)


def predicted(ms: float, collective_ms: float) -> PredictedStep:
    """A step of which the collectives take so much."""
    share = Range(0.3, 0.4, 0.5)
    return made.predicted(
        Range(ms, ms, ms),
        device_ms=Range(0.9 * ms, ms, 1.2 * ms),
        mfu=share,
        hbm_use=share,
        flops=128_000_000_000,
        collective_ms=Range(0.5 * collective_ms, collective_ms, 2 * collective_ms),
    )


STEP = Compilation(
    target="v5e-8",
    batch=128,
    replicas=8,
    compiler="libtpu 1, jax 1",
    usable_bytes=int(15.75 * GIB),
    argument_bytes=GIB,
    output_bytes=GIB // 2,
    alias_bytes=GIB // 2,
    temporary_bytes=8 * GIB,
    code_bytes=GIB // 8,
    flops=128e9,
    compiled=True,
    program=PROGRAM,
    predicted=predicted(1.0, 0.01),
)
FACTS = CompilerFacts(LoweredStep(batch=128, replicas=8, path="step.mlir"), STEP)
SMALL = replace(STEP, batch=32, flops=32e9, predicted=predicted(0.25, 0.01))


def judge(id_: str, facts: CompilerFacts, **seen: Any) -> Outcome:
    signals = Signals(
        origin=Origin.REHEARSAL,
        target=V5E,
        batch=Batch(1024, 128, 8, HERE),
        step_ops=StepOps(9, ()),
        step_inputs=(TensorSeen("image", "float32", (128, 784)),),
        compiler=facts,
    )
    return examine(replace(signals, **seen), id_)


def with_step(**changed: object) -> CompilerFacts:
    return replace(FACTS, step=replace(STEP, **changed))  # type: ignore[arg-type]


def of_step(ms: float, collective_ms: float = 0.01, **changed: Any) -> CompilerFacts:
    """A program whose predicted step differs."""
    return with_step(predicted=replace(predicted(ms, collective_ms), **changed))


def unlowered(kind: str) -> CompilerFacts:
    """A step with an operation that has no kernel."""
    refused = (RefusedOp(kind, "op", HERE),)
    return CompilerFacts(LoweredStep(batch=128, replicas=8, error="...", refused_ops=refused))


OF_PROGRAM = ("TPU302", "TPU303", "TPU504")
UNREAD = with_step(program=None, predicted=None)
DIED = with_step(compiled=False, program=None, error="died")
SILENT = replace(DIED, reason="it died", how="try again")
LOW, BY_MXU = Range(0.05, 0.1, 0.2), ((Bound.MXU, 1.0),)


@pytest.mark.parametrize(
    ("id_", "facts", "verdict", "why"),
    [
        *((id_, SILENT, Verdict.SKIPPED, "it died") for id_ in OF_PROGRAM),
        ("TPU301", SILENT, Verdict.SKIPPED, ""),
        # What cannot be read still tells what it needs.
        *((id_, UNREAD, Verdict.SKIPPED, "") for id_ in OF_PROGRAM),
        ("TPU301", UNREAD, Verdict.PASSED, ""),
        # As predicted, where both ends of the range say so.
        ("TPU504", of_step(2.0, 1.0), Verdict.FAILED, "predicted"),
        ("TPU504", of_step(1.0, 0.06), Verdict.SKIPPED, "either side"),
        ("TPU504", of_step(0.02), Verdict.SKIPPED, "too short"),
        ("TPU504", of_step(0.02, bound_by=Bound.DISPATCH), Verdict.SKIPPED, "dispatch rules"),
        ("TPU504", with_step(replicas=1), Verdict.SKIPPED, ""),
        ("TPU405", FACTS, Verdict.PASSED, ""),
        ("TPU405", of_step(1.0, mfu=Range(0.2, 0.3, 0.4)), Verdict.SKIPPED, ""),
        ("TPU405", of_step(1.0, mfu=LOW, split_ms=BY_MXU), Verdict.FAILED, "predicted"),
        ("TPU405", of_step(1.0, mfu=LOW), Verdict.SKIPPED, "HBM"),
        ("TPU210", of_step(2.0), Verdict.PASSED, ""),
        ("TPU210", of_step(0.5), Verdict.SKIPPED, ""),
        ("TPU210", of_step(0.01), Verdict.FAILED, "predicted"),
    ],
)
def test_what_is_known_of_the_program_is_judged(
    id_: str, facts: CompilerFacts, verdict: Verdict, why: str
) -> None:
    outcome = judge(id_, facts)
    assert outcome.verdict is verdict
    assert why in (outcome.reason or "".join(each.message for each in outcome.findings))


def test_one_replica_exchanges_nothing() -> None:
    alone = judge("TPU504", of_step(2.0, 0.0), target=target("v5e-1"))
    assert "exchanges nothing" in (alone.reason or "")


def figures(outcome: Outcome) -> dict[str, object]:
    found = [*outcome.evidence, *(e for f in outcome.findings for e in f.evidence)]
    return {item.name: item.value for item in found}


@pytest.mark.parametrize("id_", ["TPU103", "TPU301", "TPU302", "TPU303", "TPU504"])
def test_a_healthy_program_passes_on_the_compilers_word(id_: str) -> None:
    outcome = judge(id_, FACTS)
    assert outcome.verdict is Verdict.PASSED
    assert any("TPU compiler" in item.source for item in outcome.evidence)


def test_the_need_is_the_sum_of_its_parts() -> None:
    said = figures(judge("TPU301", FACTS))
    parts = ("arguments", "temporaries", "outputs", "code")
    assert said["HBM need"] == sum(int(str(said[part])) for part in parts)
    assert said["headroom in bytes"] == STEP.usable_bytes - int(str(said["HBM need"]))


WORST = HbmTensor("lookup", "f32[8388608,8]{1,0:T(8,128)}", GIB // 4, 4 * GIB, HERE)
OPEN = RefusedOp("gather of f32[?,8]", "where", HERE)


@pytest.mark.parametrize(
    ("id_", "facts", "severity", "said"),
    [
        ("TPU301", with_step(temporary_bytes=14 * GIB), Severity.WARNING, ""),
        (
            "TPU302",
            with_step(program=replace(PROGRAM, padded=(WORST,))),
            Severity.WARNING,
            "lookup f32[8388608,8] takes 4.0 GiB for 256.0 MiB (16.0 x)",
        ),
        ("TPU103", unlowered("DecodeJpeg"), Severity.ERROR, "DecodeJpeg does not lower to XLA."),
        ("TPU102", with_step(dynamic=(OPEN,)), Severity.WARNING, ""),
    ],
)
def test_what_ails_the_program_is_told_with_its_line(
    id_: str, facts: CompilerFacts, severity: Severity, said: str
) -> None:
    outcome = judge(id_, facts)
    assert (outcome.verdict, outcome.severity) == (Verdict.FAILED, severity)
    assert said in outcome.findings[0].message
    assert outcome.findings[0].location == HERE


def test_rows_that_an_optimizer_sums_by_itself_are_no_finding() -> None:
    summed = with_step(dynamic=(OPEN, replace(OPEN, name="Adam/Unique")))
    own = StepOps(9, (), (StepOp("UniqueV2", "Unique", False, HERE),))
    assert not judge("TPU102", summed).findings and judge("TPU102", summed, step_ops=own).findings


def test_a_refusal_is_an_error_in_the_compilers_words() -> None:
    words = "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: (36.00G) exceeds available HBM (15.75G)"
    large = HbmTensor("conv1/Conv2D", "f32[512,112,112,64]", GIB, GIB, Location("model.py", 3))
    full = OutOfMemory(words, 36 * GIB, int(15.75 * GIB), (large,))
    refused = with_step(compiled=False, program=None, out_of_memory=full)
    assert judge("TPU303", refused).verdict is Verdict.SKIPPED
    outcome = judge("TPU301", refused)
    assert outcome.severity is Severity.ERROR
    assert "36.00G" in outcome.findings[0].message
    assert outcome.findings[0].location == large.location
    assert figures(outcome)["HBM need"] == 36 * GIB


@pytest.mark.parametrize(("over", "severity"), [(64, Severity.ERROR), (256, Severity.WARNING)])
def test_state_that_lies_twice_is_an_error_where_the_step_fits_without(
    over: int, severity: Severity
) -> None:
    usable = int(15.75 * GIB)
    full = OutOfMemory("E1000", usable + over * 2**20, usable)
    step = with_step(compiled=False, program=None, out_of_memory=full)
    signals = replace(of_jax(replace(STATE, donated=False), SHARD), compiler=step)
    assert examine(signals, "TPU701").severity is severity


def test_recomputation_is_held_against_a_small_batch() -> None:
    assert judge("TPU303", replace(FACTS, small=SMALL)).verdict is Verdict.PASSED
    slow = replace(STEP, flops=128e9 * 1.3, predicted=predicted(1.23, 0.01))
    outcome = judge("TPU303", replace(FACTS, step=slow, small=SMALL))
    assert outcome.verdict is Verdict.FAILED
    assert figures(outcome)["more FLOPs an example"] == 30.0
    assert figures(outcome)["more time an example, predicted"] == 23.0


def test_an_array_that_loses_its_sharding_keeps_it() -> None:
    gathered = replace(PROGRAM, collectives=(Collective("all-gather", 2, 200_000),))
    step = replace(STEP, program=gathered, predicted=predicted(2.0, 1.0))
    outcome = judge("TPU504", replace(FACTS, step=step), framework=Framework.JAX)
    assert "with_sharding_constraint" in outcome.findings[0].fix
    reduced = judge("TPU504", of_step(2.0, 1.0), framework=Framework.JAX)
    assert "dataset" not in reduced.findings[0].fix
    older = installed(jax="0.4.30")
    outcome = judge("TPU504", of_step(2.0, 1.0), framework=Framework.JAX, environment=older)
    assert (reduced.severity, outcome.severity) == (Severity.WARNING, Severity.INFO)


def test_what_a_print_brings_along_is_not_sent_to_the_pipeline() -> None:
    printed = StepOps(9, (StepOp("PrintV2", "print", True, HERE),))
    (finding,) = judge("TPU103", unlowered("StringFormat"), step_ops=printed).findings
    assert "out of the step" in finding.fix
    (finding,) = judge("TPU103", unlowered("StringFormat")).findings
    assert "dataset.map" in finding.fix
    (finding,) = judge("TPU103", unlowered("LogUniformCandidateSampler")).findings
    assert "sampled_values" in finding.fix, "it belongs to a loss of the step's weights"


def test_what_soft_placement_was_asked_for_runs_on_the_host() -> None:
    summary = StepOp("WriteSummary", "w", False, HERE)
    tag = StepOp("Pack", "p", False, HERE)
    soft = StepOps(9, (tag, summary), soft_placement=True)
    (finding,) = judge("TPU103", CompilerFacts(), step_ops=soft).findings
    assert finding.severity is Severity.WARNING
    assert finding.message == (
        "WriteSummary has no TPU kernel: with soft placement it runs on the host."
    )
    assert "out of the step" in finding.fix, "no pipeline writes what the step gives"
    numbers_alone = StepOps(9, (StepOp("GatherNd", "g", False, HERE),))
    (finding,) = judge("TPU103", CompilerFacts(), step_ops=numbers_alone).findings
    assert finding.severity in (None, Severity.ERROR)
    assert finding.message == "GatherNd of text has no TPU kernel."


def test_a_step_that_was_not_lowered_is_skipped_with_the_reason() -> None:
    outcome = judge("TPU103", CompilerFacts(reason="was not asked", how="leave out --no-compile"))
    assert (outcome.verdict, outcome.cause) == (Verdict.SKIPPED, "was not asked")
    assert outcome.how_to_measure == "leave out --no-compile"


def test_float32_is_a_note_where_the_step_is_not_bound_by_hbm() -> None:
    ops = (product(784, 128, dtype="float32"),)
    wide = h(matrix_ops=ops, precision=MixedPrecision(("float32",)), compiler=FACTS)
    assert examine(wide, "TPU403").severity is Severity.WARNING
    by_mxu = with_step(predicted=replace(predicted(1.0, 0.01), bound_by=Bound.MXU))
    assert examine(replace(wide, compiler=by_mxu), "TPU403").severity is Severity.INFO
