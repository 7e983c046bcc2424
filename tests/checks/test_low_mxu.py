"""What TPU405 says of a step whose MXU is hardly used."""

from dataclasses import replace

import pytest

from tests.checks.rehearsal import HEALTHY, HERE, examine
from tests.checks.test_compiled import predicted, with_step
from tpudiag.model import Verdict
from tpudiag.prediction.times import Bound, Range
from tpudiag.report_figures import PredictedInstruction
from tpudiag.signals import DatasetOp, InputCost, MixedPrecision, Pipeline

LOW = replace(predicted(1.0, 0.01), mfu=Range(0.05, 0.1, 0.2), split_ms=((Bound.MXU, 1.0),))
SIGNALS = replace(HEALTHY, compiler=with_step(predicted=LOW), pipelines=())


@pytest.mark.parametrize(("policy", "fix"), [("mixed_bfloat16", "batch"), ("float32", "policy")])
def test_no_policy_is_advised_that_is_there(policy: str, fix: str) -> None:
    precision = MixedPrecision((policy,), global_policy=policy)
    (finding,) = examine(replace(SIGNALS, precision=precision), "TPU405").findings
    assert fix in finding.fix and ("set_global_policy" in finding.fix) == (policy == "float32")


def test_a_step_that_starves_is_told_by_its_input() -> None:
    cost = InputCost(examples=100, seconds=1.0, cpu_seconds=1.0, cores=2, serial_seconds=0.5)
    slow = Pipeline(ops=(DatasetOp(kind="Map"),), elements=(), trains=True, cost=cost)
    outcome = examine(replace(SIGNALS, pipelines=(slow,)), "TPU405")
    assert outcome.verdict is Verdict.SKIPPED and "host input" in (outcome.reason or "")


def test_a_step_that_links_may_bind_is_not_told() -> None:
    exchanging = replace(LOW, collective_ms=Range(0.1, 0.4, 0.9))
    outcome = examine(replace(SIGNALS, compiler=with_step(predicted=exchanging)), "TPU405")
    assert outcome.verdict is Verdict.SKIPPED and "ICI" in (outcome.reason or "")


def test_the_fix_is_that_of_the_instructions_which_take_longest() -> None:
    top = tuple(
        PredictedInstruction(
            name=helps, operation="", location=HERE, runs=1, ms=0.2, low_ms=0.1, high_ms=0.3,
            share=0.2, hbm_bytes=0, flops=0, bound_by=bound, helps=helps,
        )
        for bound, helps in zip(
            ("HBM", "MXU", "vector unit", "MXU"), ("bytes", "shapes", "less", "shapes"), strict=True
        )
    )  # fmt: skip
    step = with_step(predicted=replace(LOW, top=top))
    (finding,) = examine(replace(SIGNALS, compiler=step), "TPU405").findings
    assert finding.fix.startswith("40% of the step or more: shapes\n20%") and finding.location
    assert "bytes" not in finding.fix and "policy" not in finding.fix
