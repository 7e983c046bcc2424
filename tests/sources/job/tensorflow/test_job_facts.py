"""Facts that are sent while a job runs."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow import job_facts


def test_times_under_the_profiler_go_before_others() -> None:
    def times(profiled: list[float], plain: list[float]) -> Any:
        steps: Any = SimpleNamespace(profiled_ms=profiled, times_ms=plain)
        return job_facts._step_times(steps)

    assert times([], []) is None
    assert times([], [5.0]).step_ms == (5.0,)
    assert times([4.0, 4.5], [5.0]).step_ms == (4.0, 4.5)


def test_before_the_first_step_nothing_is_dispatched() -> None:
    steps: Any = SimpleNamespace(steps=0)
    watches: Any = SimpleNamespace()
    assert job_facts._dispatch(watches, steps) is None
