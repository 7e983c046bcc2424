"""What is said of a step that was not lowered, and how much of a compiler's message."""

from __future__ import annotations

import sys

from tpudiag import hardware
from tpudiag.compiled import CompilerFacts, LoweredStep, RefusedOp
from tpudiag.sources.compiler import compile_step

LONG = "Trying to access resource " + "of another replica " * 30


def asked(lowered: LoweredStep) -> CompilerFacts:
    request = compile_step.CompilerRequest(python=sys.executable, timeout_s=1.0)
    return compile_step.ask((lowered,), hardware.target("v5e-8"), request, lambda _: None)


def test_only_a_step_with_a_refused_operation_is_sent_to_the_checks_of_it() -> None:
    refused = asked(
        LoweredStep(batch=8, replicas=8, error="no", refused_ops=(RefusedOp("AsString", "a"),))
    )
    assert refused.reason == "the step does not lower to XLA: AsString"
    assert refused.how is not None and "TPU103" in refused.how
    other = asked(LoweredStep(batch=8, replicas=8, error=LONG))
    assert other.how == "run one step on the TPU"


def test_a_long_message_ends_with_a_whole_word() -> None:
    line = compile_step.first_line(f"\n{LONG}\nsecond")
    assert line.endswith("replica ...") or line.endswith(("of ...", "another ..."))
    assert len(line) <= compile_step.LONGEST + len(" ...")
    assert compile_step.first_line("short\nsecond") == "short"
    assert compile_step.first_line(" \n") == compile_step.first_line(None) == "it said nothing"
