"""Determines a run's state: from its recorded end, its process, and its silence."""

import os
import time
from dataclasses import dataclass

from tpudiag.monitoring import machine
from tpudiag.monitoring.recording import NS, Run
from tpudiag.signals.run_state import RunState, StateKind

SETTLED_S = 3.0
"""A dead process may have written its end just after the recording was read."""
LOST_S, LOST_ELSEWHERE_S = 30.0, 60.0
"""Silence of the recorder, which writes each second, on this host and on another."""
CLOCKS_S = 60.0
"""The tolerance of ages."""
SIGNALS = {143: "SIGTERM: a preemption, or a plain kill", 130: "SIGINT", 137: "SIGKILL"}


@dataclass(frozen=True, kw_only=True)
class Heard:
    """Facts of a run beyond its row."""

    steps: int
    here: bool
    """Whether its process would be visible from here."""
    quiet_s: float
    """Since its recorder last wrote."""
    silent_s: float
    """Since its last step."""
    hangs_after_s: float
    """Longer silence counts as a hang."""
    killed_by: str | None = None
    """How it ended, according to the host, for a sentence."""
    was_lost: bool = False
    """Whether its process was seen alive while its recording stood still."""


def is_here(run: Run, this_machine: str) -> bool:
    """Whether the run's process would be visible from here."""
    same = not run.machine or run.machine == this_machine
    return run.pid > 0 and run.host == os.uname().nodename and same


def state(run: Run, heard: Heard) -> RunState:
    """The one state of a run."""
    if run.ended_ns is not None:
        return _ended(run)
    if run.pid <= 0:
        return _by_steps(run, heard, None)
    if not heard.here:
        if heard.quiet_s > LOST_ELSEWHERE_S:
            return RunState(
                StateKind.LOST,
                f"the job's process {run.pid} on {run.host} is gone, or cannot write its "
                f"recording: it last wrote {heard.quiet_s:,.0f} s ago",
            )
        return _by_steps(run, heard, None)
    if not machine.alive(run.pid, _least_age_s(run)):
        if heard.was_lost and heard.killed_by is None:
            text = (
                f"the job's process {run.pid} is gone, and how it ended is not known: its "
                f"recording had stood still before (it last wrote {heard.quiet_s:,.0f} s ago)"
            )
            return RunState(StateKind.LOST, text, lives=False)
        if heard.quiet_s > SETTLED_S:
            unknown = " (killed, left by os._exit, or its end could not be written)"
            why = f": {heard.killed_by}" if heard.killed_by else unknown
            text = f"the job's process {run.pid} is gone{why}"
            return RunState(StateKind.KILLED, text, lives=False)
        return _by_steps(run, heard, None)
    if heard.quiet_s > SETTLED_S and machine.stopped(run.pid):
        text = f"the job's process {run.pid} is stopped by a signal (SIGSTOP, or a debugger)"
        return RunState(StateKind.STOPPED, text, lives=True)
    if heard.quiet_s > LOST_S:
        return RunState(
            StateKind.LOST,
            f"the job's process {run.pid} lives, and has not written its recording for "
            f"{heard.quiet_s:,.0f} s (disk full, folder gone, or Python held up)",
            lives=True,
        )
    return _by_steps(run, heard, lives=True)


def _least_age_s(run: Run) -> float | None:
    """Its process's least present age; None without a clock that never jumps."""
    if not run.machine or run.monotonic_ns is None or run.process_started_ns is None:
        return None
    # Both come from the wall clock at one moment, so their difference is right.
    begun_s = (run.started_ns - run.process_started_ns) / NS
    return begun_s + (time.perf_counter_ns() - run.monotonic_ns) / NS - CLOCKS_S


def _ended(run: Run) -> RunState:
    if run.exit_code:
        said = SIGNALS.get(run.exit_code)
        why = f" ({said})" if said else ""
        after = f", after {run.failure}" if run.failure else ""
        return RunState(StateKind.EXITED, f"the job exited with code {run.exit_code}{why}{after}")
    if run.failure is not None:
        return RunState(StateKind.FAILED, f"the job ended by {run.failure}")
    return RunState(StateKind.COMPLETED, "the run has ended")


def _by_steps(run: Run, heard: Heard, lives: bool | None) -> RunState:
    """The state of a run that, as far as known, continues."""
    if run.pausing is not None:
        return RunState(StateKind.PAUSING, f"in a pause for {run.pausing}", lives)
    if not heard.steps:
        return RunState(StateKind.COMPILING, "no step yet", lives)
    if heard.silent_s > heard.hangs_after_s:
        return RunState(StateKind.SILENT, f"no step for {heard.silent_s:,.0f} s", lives)
    return RunState(StateKind.STEPPING, "it makes steps", lives)
