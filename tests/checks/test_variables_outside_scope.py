"""Which variables outside the scope are told of."""

from __future__ import annotations

from dataclasses import replace

from tpudiag.model import Severity
from tpudiag.signals import OutsideMetric

from .rehearsal import HERE, KERNEL, examine, numerics


def test_metrics_of_a_model_that_is_outside_itself_are_mended_with_it() -> None:
    metric = numerics(outside_metrics=(OutsideMetric("total", HERE),))
    both = replace(metric, variables=(replace(KERNEL, in_scope=False),))
    (finding,) = examine(both, "TPU501").findings
    assert finding.severity in (None, Severity.ERROR)
    assert "made outside strategy.scope(), the first" in finding.message
