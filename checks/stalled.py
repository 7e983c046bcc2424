from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals, Throughput
from tpudiag.signals.run_state import StateKind

from ._cause import figures, fix, sentence
from ._need import RECORD_IT, need

LIMIT = 3.0
"""Times the longest pause that is normal for the job."""
FIRST_STEP_S = 1_200.0
"""As long as SageMaker's MaxInitializationTime gives a job for its first step."""


@check("TPU604", Severity.ERROR)
def stalled(signals: Signals, limit: float = LIMIT) -> Judgement:
    """No step for far longer than the longest normal pause, or no first step in 20 minutes.

    ## What it sees
    The time since the last step of a recorded or watched job, compared with the longest pause
    between two of its steps (checkpoint, evaluation), or 20 steps; while its own pauses are not
    known yet, the limit is ten minutes. For an announced pause it is an hour, or three times its
    longest. A job that is stopped by a signal is reported at once. One that has ended is no stall
    (TPU609), nor is a recording that stops while its process lives (TPU610).

    ## Why it costs
    A job that hangs holds its TPU and trains nothing: a collective waits for a dead host, an input
    pipeline has no data, a checkpoint is never written.

    ## What to do
    ```python
    # where each thread stands, while it hangs:
    #   py-spy dump --pid PID
    with tracker.pause("checkpoint"):      # announces a pause that is meant
        manager.save()
    ```

    ## Source
    SageMaker Debugger (MaxInitializationTime); tests/benchmarks/bench_detector.py
    """
    seen = need(signals.throughput, "the throughput of a job", RECORD_IT)
    kind = seen.state.kind
    if kind is StateKind.LOST:
        raise NotMeasured(seen.state.text, RECORD_IT)
    if kind is StateKind.STOPPED:
        yield _stopped(seen)
        return
    if seen.state.over or seen.silent_s is None:
        yield Evidence("run", kind.value, source=seen.source)
        return
    # Before its first step a job compiles, for minutes on a TPU, and has shown no pause of its own.
    longest_s = FIRST_STEP_S if seen.steps == 0 else limit * seen.normal_pause_s
    silent = Evidence("silent", _rounded(seen.silent_s), "s", _rounded(longest_s), seen.source)
    if seen.silent_s > longest_s and seen.unsure is not None:
        raise NotMeasured(
            f"no step for {seen.silent_s:,.0f} s, and {seen.unsure}",
            "watch it while it runs, or record it with `tpudiag.ThroughputCallback()`",
        )
    if seen.silent_s > longest_s:
        yield _silent(seen, seen.silent_s, longest_s, silent)
    elif seen.steps == 0:
        raise NotMeasured("no step was seen yet", "wait for the first step")
    yield silent


def _stopped(seen: Throughput) -> Finding:
    silent_s = _rounded(seen.silent_s)
    unit = "epochs" if seen.unit == "epochs" else "steps"
    return Finding(
        f"{seen.state.text}, after {seen.steps} {unit}; no step for {silent_s:,.0f} s.",
        fix(None, "kill -CONT PID  # lets it go on", seen.pid),
        (Evidence("silent", silent_s, "s", source=seen.source), *figures(seen.stall_cause)),
    )


def _silent(seen: Throughput, silent_s: float, longest_s: float, silent: Evidence) -> Finding:
    during = f" in a pause for {seen.pausing}" if seen.pausing else ""
    which = "no first step" if seen.steps == 0 else "no step"
    return Finding(
        f"{which} for {silent_s:,.0f} s{during}; up to {longest_s:,.0f} s were normal."
        f"{sentence(seen.stall_cause, seen.stands)}",
        fix(
            seen.stall_cause,
            "py-spy dump --pid PID  # where each thread of the trainer stands",
            seen.pid,
        ),
        (silent, *figures(seen.stall_cause)),
    )


def _rounded(value: float | None) -> float:
    return round(value or 0.0, 1)
