"""The steps of a run from those of its hosts."""

import pytest

from tpudiag.signals.profile import UNTOLD, ReplicaSteps, StepPart
from tpudiag.sources.profile.op_kinds import COLLECTIVES
from tpudiag.sources.profile.run_steps import step_times
from tpudiag.sources.profile.step_breakdown import INPUT, STEPS_LINE, HostSteps


def replica(name: str, numbers: tuple[int, ...], ms: float, **parts: float) -> ReplicaSteps:
    count = len(numbers)
    named = {"wait": INPUT[0], "others": COLLECTIVES, "lost": UNTOLD}
    columns = tuple(StepPart(named[key], (value,) * count) for key, value in parts.items())
    return ReplicaSteps("host", name, numbers, (ms,) * count, columns)


def host(*replicas: ReplicaSteps, wait_source: str | None = "GetNext") -> HostSteps:
    return HostSteps(replicas, STEPS_LINE, wait_source, recovered=False, ends={})


def test_input_is_that_of_the_replica_that_others_wait_for() -> None:
    fast = replica("0", (1, 2, 3), 20.0, wait=0.5, others=9.0)
    slow = replica("1", (1, 2, 3), 20.0, wait=8.0, others=1.0)
    times = step_times([host(fast, slow)])
    assert times is not None and times.step_ms == (20.0,) * 3
    assert times.input_wait_ms == (8.0,) * 3
    assert "others wait for" in (times.input_wait_source or "")
    assert times.source == f"{STEPS_LINE} of 2 devices"


def test_steps_that_not_every_replica_recorded_are_left_out_at_the_ends() -> None:
    one, other = replica("0", (1, 2, 3, 4), 20.0), replica("1", (2, 3, 4, 5), 22.0)
    times = step_times([host(one), host(other)])
    assert times is not None and times.step_ms == (22.0,) * 3
    alone = step_times([host(replica("0", (1, 2), 5.0)), host(replica("1", (7, 8), 6.0))])
    assert alone is not None and len(alone.step_ms) == 4, "none is on all: all are kept"


def test_time_that_a_trace_lost_proves_no_slow_replica() -> None:
    whole = replica("0", (1,), 20.0, wait=3.0, others=5.0)
    lost = replica("1", (1,), 20.0, wait=0.0, lost=15.0)
    times = step_times([host(whole, lost)])
    assert times is not None and times.input_wait_ms == (3.0,)


def test_epochs_that_number_their_steps_anew_and_unknown_waits() -> None:
    again = replica("0", (0, 1, 0, 1), 10.0)
    times = step_times([host(again, wait_source=None)])
    assert times is not None and len(times.step_ms) == 4 and times.input_wait_ms is None
    assert step_times([]) is None
    assert step_times([host(replica("0", (), 1.0))]) is None
    assert times.step_ms[0] == pytest.approx(10.0)
