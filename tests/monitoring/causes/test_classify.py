"""The cause that figures prove, and none where they prove none."""

from dataclasses import replace
from typing import Any

import pytest

from tpudiag.monitoring.causes.classify import cause
from tpudiag.monitoring.causes.host import HostFigures
from tpudiag.monitoring.causes.machine_events import MachineEvent
from tpudiag.monitoring.causes.observations import Observations, Pace
from tpudiag.monitoring.causes.stacks import MainThread
from tpudiag.monitoring.recording import Trace
from tpudiag.signals.causes import CauseKind
from tpudiag.sources.live.tpu_monitoring import ChipScore

BEFORE = Pace(step_ms=100.0, wait_ms=5.0, compile_ms=0.0, hbm_bytes=8 * 2**30)
SLOWER = replace(BEFORE, step_ms=200.0)
HOST = HostFigures(
    at_ns=0, cores=8.0, others_cores=0.5, own_cores=2.0, queued=0.1, throttled=None,
    available_share=0.6, swapped_in_mib_per_s=0.0, major_faults_per_s=0.0, memory_pressure=0.0,
    resident_gib=4.0, read_mib_per_s=10.0, received_mib_per_s=1.0,
)  # fmt: skip
COOL = (ChipScore("throttling", "0", 0), ChipScore("throttling", "1", 1))
HOT = (ChipScore("throttling", "0", 0), ChipScore("throttling", "1", 5))
BUSY = replace(HOST, others_cores=6.0, own_cores=1.5, queued=3.0)
SHORT = replace(HOST, memory_pressure=40.0, major_faults_per_s=900.0, available_share=0.02)
RETRACED = tuple(Trace("train_step", number, number + 1) for number in range(5))
USUAL = (MainThread(), MainThread(fault="gone"))
SEEN = Observations(
    lost=0.5, before=BEFORE, now=SLOWER, host_before=HOST, host=HOST, main_before=USUAL
)


def main(activity: Any, share: float) -> MainThread:
    return MainThread(((activity, share),), (("t.py:1 (f)", share),))


PROVEN: list[tuple[dict[str, Any], CauseKind]] = [
    ({"now": replace(SLOWER, wait_ms=100.0)}, CauseKind.INPUT),
    ({"host": BUSY}, CauseKind.HOST_CPU),
    ({"host": BUSY, "now": replace(SLOWER, wait_ms=60.0)}, CauseKind.HOST_CPU),
    ({"host": BUSY, "now": replace(SLOWER, wait_ms=105.0)}, CauseKind.HOST_CPU),
    ({"host": replace(BUSY, queued=1.0), "now": replace(SLOWER, wait_ms=30.0)},
     CauseKind.HOST_CPU),
    ({"host_before": replace(HOST, others_cores=6.0, own_cores=2.0, queued=2.0),
      "host": replace(HOST, others_cores=7.4, own_cores=0.6, queued=2.4)}, CauseKind.HOST_CPU),
    ({"host": BUSY, "now": replace(SLOWER, compile_ms=90.0), "traces": RETRACED},
     CauseKind.COMPILE),
    ({"host": BUSY, "stalled": True, "lost": 1.0, "stopped": True}, CauseKind.STOPPED),
    ({"stalled": True, "lost": 1.0, "now": None,
      "host": replace(BUSY, own_cores=0.05, queued=2.0)}, CauseKind.HOST_CPU),
    ({"now": replace(SLOWER, wait_ms=None), "main": main("input", 0.6)}, CauseKind.INPUT),
    ({"host": replace(HOST, throttled=0.5), "host_before": replace(HOST, throttled=0.0)},
     CauseKind.HOST_CPU),
    ({"host": replace(HOST, throttled=0.6), "host_before": replace(HOST, throttled=0.0),
      "stalled": True, "lost": 1.0, "now": None}, CauseKind.HOST_CPU),
    ({"chips": HOT, "chips_before": COOL}, CauseKind.DEVICE),
    ({"chips": HOT, "host": BUSY}, CauseKind.DEVICE),
    ({"host": SHORT}, CauseKind.HOST_MEMORY),
    ({"host": replace(SHORT, others_cores=6.0, queued=3.0)}, CauseKind.HOST_MEMORY),
    ({"host": replace(SHORT, memory_pressure=20.0)}, CauseKind.HOST_MEMORY),
    ({"host": replace(SHORT, memory_pressure=20.0), "main": main("evaluation", 0.5)},
     CauseKind.EVALUATION),
    ({"now": replace(SLOWER, compile_ms=90.0), "traces": RETRACED}, CauseKind.COMPILE),
    ({"main": main("evaluation", 0.5)}, CauseKind.EVALUATION),
    ({"main": main("checkpoint", 0.4)}, CauseKind.CHECKPOINT),
    ({"main": main("compile", 0.5)}, CauseKind.COMPILE),
    ({"stopped": True}, CauseKind.STOPPED),
    ({"event": MachineEvent("it was preempted", final=True)}, CauseKind.PREEMPTION),
    ({"stalled": True, "event": MachineEvent("maintenance event X")}, CauseKind.PREEMPTION),
    ({"partner": ("worker 2", "t.py:9 (load)")}, CauseKind.PARTNER),
    ({"now": replace(SLOWER, hbm_bytes=159 * 2**27), "hbm_limit_bytes": 20 * 2**30},
     CauseKind.HBM),
    ({"stalled": True, "lost": 1.0, "now": None, "pausing": "evaluation"}, CauseKind.EVALUATION),
    ({"stalled": True, "lost": 1.0, "now": None, "pausing": "restore"}, CauseKind.CHECKPOINT),
    ({"stalled": True, "lost": 1.0, "now": None, "main": main("input", 1.0)}, CauseKind.INPUT),
]  # fmt: skip
NOT_PROVEN: list[dict[str, Any]] = [
    {},
    {"now": replace(SLOWER, wait_ms=30.0)},
    {"now": replace(SLOWER, wait_ms=None)},
    {"before": None},
    {"host": replace(HOST, others_cores=6.0)},
    {"host": replace(BUSY, queued=0.4), "now": replace(SLOWER, step_ms=300.0)},
    {"host": BUSY, "now": replace(SLOWER, step_ms=1000.0)},
    {"host": replace(BUSY, others_cores=0.6)},
    {"host": replace(BUSY, queued=None)},
    {
        "host_before": replace(HOST, own_cores=2.0, queued=1.0),
        "host": replace(BUSY, own_cores=0.5, queued=0.95),
    },
    {"host": BUSY, "now": None},
    {"host": BUSY, "stalled": True, "lost": 1.0, "now": None},
    {
        "host": replace(HOST, throttled=0.25),
        "host_before": replace(HOST, throttled=0.0),
        "now": replace(SLOWER, step_ms=400.0),
    },
    {"host": replace(SHORT, memory_pressure=9.0, available_share=0.3)},
    {"host": replace(SHORT, memory_pressure=20.0, major_faults_per_s=12.0)},
    {"host": replace(SHORT, major_faults_per_s=0.0)},
    {"chips": HOT, "chips_before": HOT},
    {"chips": COOL},
    {"chips": (ChipScore("ICI link", "tray1.chip3.ici1.int", 10),)},
    {"event": MachineEvent("maintenance event X")},
    {"main": main("evaluation", 0.5), "main_before": ()},
    {"main": main("evaluation", 1.0), "main_before": (main("evaluation", 1.0),)},
    {"main": main("evaluation", 0.5), "main_before": (main("evaluation", 0.5),)},
    {"host": BUSY, "host_before": None},
    {"host": BUSY, "host_before": BUSY},
    {"host": replace(HOST, memory_pressure=40.0)},
    {"host": SHORT, "host_before": SHORT},
    {"now": replace(SLOWER, compile_ms=10.0), "traces": RETRACED},
    {"now": replace(SLOWER, compile_ms=90.0)},
    {"main": main("evaluation", 0.2)},
    {"main": main("input", 1.0)},
    {"main": MainThread(fault="not permitted")},
    {"stalled": True, "lost": 1.0, "pausing": "epoch end"},
    {"now": replace(SLOWER, hbm_bytes=159 * 2**27)},
]


@pytest.mark.parametrize(("changed", "kind"), PROVEN)
def test_proven(changed: dict[str, Any], kind: CauseKind) -> None:
    found = cause(replace(SEEN, **changed))
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize("changed", NOT_PROVEN)
def test_not_proven(changed: dict[str, Any]) -> None:
    assert cause(replace(SEEN, **changed)) is None


def test_a_busy_host_is_not_blamed_for_an_input_that_sleeps() -> None:
    queued = replace(BUSY, own_cores=1.0, queued=0.25)
    found = cause(replace(SEEN, host=queued, now=replace(SLOWER, wait_ms=105.0)))
    assert found is not None
    assert found.kind is CauseKind.INPUT
    waiting = found.figures[0]
    assert (waiting.before, waiting.now, waiting.unit) == (5.0, 105.0, "ms a step")


def test_an_input_that_others_starve_is_told_with_the_figures_of_both() -> None:
    found = cause(replace(SEEN, host=BUSY, now=replace(SLOWER, wait_ms=105.0)))
    assert found is not None
    assert "the step waits for input that is made there" in found.text
    names = {figure.name: (figure.before, figure.now) for figure in found.figures}
    assert names["waiting for input"] == (5.0, 105.0)
    assert names["cores busy with other processes"] == (0.5, 6.0)
    assert names["threads of the job that wait for a core"] == (0.1, 3.0)
    assert names["cores that the job has"] == (2.0, 1.5)
