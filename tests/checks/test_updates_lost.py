"""Where trained state in 16 bit comes from."""

from dataclasses import replace

import pytest

from tests.checks.rehearsal import HERE, KERNEL, examine, h
from tpudiag.model import Location
from tpudiag.signals import MixedPrecision

POLICY = Location("train.py", 3)


@pytest.mark.parametrize(("policy", "line"), [("bfloat16", POLICY), ("mixed_bfloat16", HERE)])
def test_the_policy_is_the_cause_where_it_is_of_that_type(policy: str, line: Location) -> None:
    half = replace(KERNEL, dtype="bfloat16", location=HERE)
    precision = MixedPrecision((policy,), global_policy=policy, set_at=POLICY)
    outcome = examine(h(variables=(half,), precision=precision), "TPU408")
    assert outcome.findings[0].location == line
