"""What TPU405 says of a step whose MXU is hardly used."""

from dataclasses import replace

import pytest

from tests.checks.rehearsal import HEALTHY, examine
from tests.checks.test_compiled import predicted, with_step
from tpudiag.model import Verdict
from tpudiag.prediction.times import Bound, Range
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
    assert outcome.verdict is Verdict.SKIPPED and "host input binds" in (outcome.reason or "")
