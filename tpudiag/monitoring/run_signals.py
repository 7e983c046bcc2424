"""The signals of a watched run."""

from dataclasses import replace

from tpudiag.monitoring.follower import Watched
from tpudiag.monitoring.profiler_source import PID
from tpudiag.signals import Origin, Signals, StepTimes, Throughput, ThroughputDrop
from tpudiag.signals.run_state import StateKind

LEAST_S = 60.0
FORGOTTEN_S = 86_400.0
"""After such silence in event files a job may have ended."""


def signals(watched: Watched) -> Signals:
    """The signals of a watched run."""
    run, name = watched.run, watched.source_name
    # A step during the watch proves that the job runs: later silence is a stall.
    unsure = watched.by_events and not watched.moved
    silent_s = watched.silent_s()
    forgotten = unsure and silent_s is not None and silent_s > FORGOTTEN_S
    unsure_why = "event files do not say whether a job ended" if forgotten else None
    if run.pid == PID and watched.state.kind is StateKind.LOST:
        unsure_why = "a job that ended answers no more either"
    return Signals(
        origin=Origin.RECORDING,
        steps=_step_times(watched, name),
        throughput=Throughput(
            unit=watched.unit,
            steps=watched.steps,
            source=name,
            per_s=watched.detector.per_s,
            baseline_per_s=watched.detector.baseline_per_s,
            drops=tuple(_explained(watched, drop) for drop in watched.detector.drops),
            silent_s=silent_s,
            normal_pause_s=watched.normal_pause_s(),
            pausing=run.pausing,
            state=watched.state,
            lost_steps=run.lost_steps,
            delivery=watched.delivery.fall,
            delivered_per_s=watched.delivery.per_s(),
            watched_s=watched.stepping_s,
            loss=watched.losses.trouble,
            losses_said=watched.losses.said,
            unsure=unsure_why,
            doubt=watched.detector.doubt,
            # An open drop is reported as a drop instead.
            drift=None if watched.detector.open is not None else watched.drifting.drift,
            stall_cause=watched.causes.get(True, (None, ""))[0],
            stands=watched.causes.get(True, (None, ""))[1],
            pid=run.pid if watched.lives_here else None,
            watched_h=watched.drifting.hours,
        ),
    )


def _explained(watched: Watched, drop: ThroughputDrop) -> ThroughputDrop:
    # The stored cause belongs to the open drop; those of earlier ones are not kept.
    if drop.ended_ns is not None or False not in watched.causes:
        return drop
    cause, stands = watched.causes[False]
    return replace(drop, cause=cause, stands=stands)


def _step_times(watched: Watched, name: str) -> StepTimes | None:
    """The mean step of each recent window, where the wait for input was measured."""
    # Keras hides the wait for input: without this check TPU201 would pass on zeros.
    windows = [w for w in watched.recent if w.wait_ms is not None and w.steps]
    # A filling buffer waits, too: findings in a job's first seconds would flap.
    if not windows or watched.stepping_s < LEAST_S:
        return None
    return StepTimes(
        step_ms=tuple(1e3 * w.active_s / w.steps for w in windows),
        input_wait_ms=tuple((w.wait_ms or 0.0) / w.steps for w in windows),
        source=name,
        input_wait_source="the loop's own clock",
    )
