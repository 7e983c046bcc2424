"""Who keeps a job from the host's cores."""

from dataclasses import replace

import pytest

from tpudiag.monitoring.causes.host import HostFigures
from tpudiag.monitoring.causes.observations import Observations, Pace
from tpudiag.monitoring.causes.starvation import starvation

QUIET = HostFigures(
    at_ns=0, cores=8.0, others_cores=0.5, own_cores=6.0, queued=0.1, throttled=0.0,
    available_share=0.5, swapped_in_mib_per_s=0.0, major_faults_per_s=0.0, memory_pressure=0.0,
    resident_gib=1.0, read_mib_per_s=0.0, received_mib_per_s=0.0,
)  # fmt: skip
CROWDED = replace(QUIET, others_cores=5.0, own_cores=3.0, queued=4.0)


def pace(step_ms: float) -> Pace:
    return Pace(step_ms=step_ms, wait_ms=None, compile_ms=0.0, hbm_bytes=None)


def observed(host: HostFigures, now_ms: float = 200.0, *, stalled: bool = False) -> Observations:
    return Observations(
        lost=0.5,
        before=pace(100.0),
        now=pace(now_ms),
        host_before=QUIET,
        host=host,
        stalled=stalled,
    )


def test_others_take_the_cores() -> None:
    cause = starvation(observed(CROWDED))
    assert cause is not None and "other processes" in cause.text
    assert [figure.now for figure in cause.figures] == [5.0, 4.0, 3.0]


@pytest.mark.parametrize(
    "host",
    [
        replace(CROWDED, queued=0.1),  # it sleeps, or waits for a disk
        replace(CROWDED, others_cores=0.6),  # nobody came
        replace(CROWDED, queued=None),  # the system does not say
        replace(CROWDED, queued=0.3, own_cores=6.0),  # it waits, and not for so long
    ],
)
def test_what_does_not_account_for_the_lost_time_is_no_cause(host: HostFigures) -> None:
    assert starvation(observed(host)) is None


def test_a_limit_of_the_container() -> None:
    throttled = replace(QUIET, throttled=0.6)
    cause = starvation(observed(throttled))
    assert cause is not None and "CPU limit" in cause.text and cause.figures[0].now == 60.0
    little = replace(QUIET, throttled=0.3)
    assert starvation(observed(little, now_ms=900.0)) is None, "a fraction of what was lost"
    assert starvation(observed(throttled, stalled=True)) is not None
    assert starvation(Observations(lost=0.5)) is None


def test_in_a_stall_all_threads_must_wait() -> None:
    hung = replace(CROWDED, own_cores=0.1)
    assert starvation(observed(hung, stalled=True)) is not None
    assert starvation(observed(CROWDED, stalled=True)) is None
