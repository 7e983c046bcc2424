"""When to alert: one table of rules, for Prometheus and for Cloud Monitoring.

The detector is `tpudiag watch` itself: its verdict is exported, and the first rule passes it on.
The others cover its silence: a drop below the exported baseline, missing steps and points, HBM.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

Selected = Callable[[str], str]
"""Turns a metric's name into a job's series; within a function of time, and summed over runs."""
REMEMBERED = "2h"
"""For how long a job without points counts as missing."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When the rules fire; shares are 0 to 1."""

    drop: float = 0.20
    input_share: float = 0.20
    hbm_share: float = 0.95
    first_step_min: int = 20
    silent_min: int = 20
    absent_min: int = 10


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Fires where `query` returns something for `for_min` minutes on end."""

    id: str
    title: str
    text: str
    next_command: str
    query: str
    for_min: int = 0
    severity: Literal["ERROR", "WARNING"] = "ERROR"


def rules(series: Selected, runs: Selected, id_label: str, limits: Limits) -> Iterator[Rule]:
    """The rules; `runs` takes an expression without the labels that distinguish a job's runs."""
    explain = f"tpudiag explain {{{{ $labels.{id_label} }}}}"
    yield Rule(
        id="check-failed",
        title="a check of tpudiag watch fails",
        text="`tpudiag watch` says so: throughput fell (TPU603), saves, evaluations or stalls take "
        "the time (TPU608), the job stalled (TPU604) or failed (TPU609), its recording is lost "
        "(TPU610), its loss is NaN (TPU611), or it waits for input (TPU201).",
        next_command=explain if id_label == "id" else "tpudiag watch tpudiag-logs --once",
        query=f"{runs(series('alert'))} == 1",
        for_min=1,
    )
    # Against the exported baseline, which a restart or another batch does not change; 1 % more,
    # since a drop by just the limit would never be below it.
    below = 1.01 * (1 - limits.drop)
    yield Rule(
        id="throughput-drop",
        title=f"throughput fell by {limits.drop:.0%}",
        text=f"For five minutes throughput is {limits.drop:.0%} below the job's own baseline.",
        next_command="tpudiag attach HOST:PORT",
        query=f"{runs('avg_over_time(' + series('baseline_ratio') + '[5m])')} < {below:g}",
        for_min=2,
    )
    # Not of a job whose newest run had ended well.
    began = runs(f"last_over_time({series('run_started_seconds')}[{REMEMBERED}])")
    ended = runs(f"last_over_time({series('ended_run_seconds')}[{REMEMBERED}])")
    heard = runs(f"count_over_time({series('steps')}[{limits.absent_min}m])")
    yield Rule(
        id="no-points",
        title=f"no points for {limits.absent_min} minutes",
        text=f"For {limits.absent_min} minutes nothing was heard of a job that had not ended well: "
        "its machine or `tpudiag watch` is gone, or points do not arrive.",
        next_command="tpudiag watch tpudiag-logs --once",
        query=f"({began} > {ended}) unless {heard}",
    )
    yield from _running(series, limits)


def _running(series: Selected, limits: Limits) -> Iterator[Rule]:
    """The job runs but makes no steps, or HBM and input are above their limits."""
    yield Rule(
        id="no-first-step",
        title=f"no first step within {limits.first_step_min} minutes",
        text="The job runs and has not made its first step: it waits for the TPU, for data, or "
        "for another host, or compiles without end.",
        next_command="tpudiag attach PID",
        query=f"{series('run_age_seconds')} > {60 * limits.first_step_min} "
        f"and {series('steps')} < 1 and {series('silent_seconds')} > 0",
    )
    yield Rule(
        id="no-step",
        title=f"no step for {limits.silent_min} minutes",
        text="The job has made steps and makes none any more: it hangs, or is in a pause "
        "longer than this.",
        next_command="tpudiag attach PID",
        query=f"{series('silent_seconds')} > {60 * limits.silent_min} and {series('steps')} > 0",
    )
    yield Rule(
        id="hbm-high",
        title=f"HBM above {limits.hbm_share:.0%}",
        text=f"More than {limits.hbm_share:.0%} of the HBM that programs may use is in use on "
        "the fullest device: the next larger batch or shape will not fit. Needs the "
        "generation: ThroughputCallback(tpu='v5e-8'), or TPU_ACCELERATOR_TYPE in the "
        "environment.",
        next_command="tpudiag check train.py --for v5e-8 --select TPU3",
        severity="WARNING",
        for_min=5,
        query=f"{series('hbm_used_share')} > {limits.hbm_share:g}",
    )
    yield Rule(
        id="input-bound",
        title=f"more than {limits.input_share:.0%} of the step waits for input",
        text=f"More than {limits.input_share:.0%} of step time goes by waiting for input.",
        next_command="tpudiag check train.py --select TPU2",
        severity="WARNING",
        query=f"avg_over_time({series('input_wait_share')}[10m]) > {limits.input_share:g}",
    )


def escaped(text: str) -> str:
    """A label's value between double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
