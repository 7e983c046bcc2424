"""Which variables outside the scope are reported."""

from dataclasses import replace

from tpudiag.model import Severity, Verdict
from tpudiag.signals import JobEnd, OutsideVariable

from .rehearsal import HERE, KERNEL, examine, numerics


def test_metrics_of_a_model_that_is_outside_itself_are_mended_with_it() -> None:
    metric = numerics(outside_metrics=(OutsideVariable("total", HERE),))
    both = replace(metric, variables=(replace(KERNEL, in_scope=False),))
    (finding,) = examine(both, "TPU501").findings
    assert finding.severity in (None, Severity.ERROR)
    assert "made outside strategy.scope(), the first" in finding.message


def test_a_model_to_look_at_is_no_error_where_no_step_told_what_is_trained() -> None:
    def ended(error: str) -> Verdict:
        end = JobEnd(how="exception", exit_code=1, error=error)
        outside = replace(KERNEL, in_scope=False)
        return examine(replace(numerics(), variables=(outside,), end=end), "TPU501").verdict

    assert ended("TypeError: Cannot iterate over a Tensor with unknown first dimension.") is (
        Verdict.SKIPPED
    )
    assert ended("ValueError: metric was not created in the strategy's scope") is Verdict.FAILED


def test_a_teacher_on_the_host_is_told_of() -> None:
    read = numerics(outside_read=(OutsideVariable("teacher/kernel", HERE),))
    (finding,) = examine(read, "TPU501").findings
    assert finding.severity is Severity.WARNING
    assert "the step reads variables that were made outside" in finding.message


def test_what_is_frozen_is_not_counted_beside_what_is_trained() -> None:
    trained = replace(KERNEL, in_scope=False, trained=True)
    frozen = replace(trained, name="base/kernel", trained=False)
    (finding,) = examine(replace(numerics(), variables=(trained, frozen)), "TPU501").findings
    assert finding.message.startswith("1 of 1 model and optimizer variables")
