"""What TPU105 says of a callback in the words of the framework that the script is written in."""

from dataclasses import replace

import pytest

from tests.checks.rehearsal import HERE, examine, h
from tpudiag.model import Framework, Severity
from tpudiag.signals import StepOp, StepOps


@pytest.mark.parametrize(
    ("framework", "kind", "called", "instead"),
    [
        (Framework.TENSORFLOW, "EagerPyFunc", "py_function inside", "TensorFlow ops"),
        (Framework.JAX, "pure_callback", "pure_callback inside", "jax.numpy"),
        (Framework.JAX, "debug_callback", "jax.debug.print", "jax.numpy"),
    ],
)
def test_a_callback_is_named_as_the_script_calls_it(
    framework: Framework, kind: str, called: str, instead: str
) -> None:
    ops = StepOps(9, (StepOp(kind, "callback", True, HERE),))
    (finding,) = examine(replace(h(step_ops=ops), framework=framework), "TPU105").findings
    assert called in finding.message and instead in (finding.fix or "")


def test_a_branch_that_calls_back_is_a_note_behind_what_each_step_calls() -> None:
    ops = [StepOp("debug_print", name, True, HERE, name == "branch") for name in ("branch", "step")]
    found = examine(h(step_ops=StepOps(9, tuple(ops))), "TPU105").findings
    assert [each.severity for each in found] == [None, Severity.INFO]
    assert found[1].message.endswith("in the steps that take its branch.")
