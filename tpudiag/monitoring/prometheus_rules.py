"""Alert rules for Prometheus on what `tpudiag watch --prometheus` serves, and GKE's device plugin.

A restarted job has another `run_id`: whatever looks back does so without that label.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tpudiag.monitoring.cloud.policies import Limits

PLUGIN = '{make="cloud-tpu"}'
"""The series of GKE's TPU device plugin (port 2112 of each node)."""
GROUP = "tpudiag"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One alert: fires where `expr` gives anything for so long."""

    id: str
    alert: str
    expr: str
    for_min: int = 0
    severity: Literal["critical", "warning"] = "critical"
    summary: str
    text: str


def rules(job: str | None, limits: Limits) -> tuple[Rule, ...]:
    """The rules of a job, or of all that are watched."""
    where = "" if job is None else f'{{job_name="{_escaped(job)}"}}'
    return (
        _check_failed(where),
        _drop(where, limits),
        _no_points(where, limits),
        *_silence(where, limits),
        *_shares(where, limits),
        _lost(where),
        *([] if job else [_plugin_memory(limits)]),
    )


def _check_failed(where: str) -> Rule:
    """What tpudiag's own detector says."""
    return Rule(
        id="check-failed",
        alert="TpudiagCheckFailed",
        expr=f"max without (run_id) (tpudiag_alert{where}) == 1",
        summary="{{ $labels.id }} fails for {{ $labels.job_name }} on {{ $labels.worker }}"
        "{{ with $labels.cause }}: {{ . }}{{ end }}",
        text="A check of `tpudiag watch` fails: throughput fell (TPU603), the job stalled or "
        "crashed (TPU604), or it waits for input (TPU201). Next: tpudiag explain {{ $labels.id }}",
    )


def _drop(where: str, limits: Limits) -> Rule:
    """Against the job's own trailing median."""
    rate = f"max without (run_id) (tpudiag_steps_per_second{where})"
    return Rule(
        id="throughput-drop",
        alert="TpudiagThroughputDrop",
        # [10m:1m] is a subquery: a plain range may only follow a series, and without run_id it is
        # an expression. The offset keeps the drop itself out of the median; 30 points of a minute
        # are the half hour without which no median is believed.
        expr=f"(avg_over_time(({rate})[10m:1m]) / "
        f"quantile_over_time(0.5, ({rate})[6h:1m] offset 15m)) < {1 - limits.drop:g} "
        f"and count_over_time(({rate})[6h:1m] offset 15m) > 30",
        summary=f"throughput of {{{{ $labels.job_name }}}} fell by {limits.drop:.0%}",
        text=f"The steps a second of the last ten minutes are {limits.drop:.0%} below the job's "
        "own median of the six hours before. Next: tpudiag attach HOST:PORT",
    )


def _no_points(where: str, limits: Limits) -> Rule:
    """A job that was there is there no more, and had not ended."""
    # absent() would need the labels of each worker by name: what was there before and is not now
    # needs none.
    gone = f"offset {limits.absent_min}m"
    return Rule(
        id="no-points",
        alert="TpudiagNoPoints",
        expr=f"max without (run_id) (max_over_time(tpudiag_steps{where}[1h] {gone})) "
        f"unless max without (run_id) (max_over_time(tpudiag_steps{where}[{limits.absent_min}m])) "
        f"unless max without (run_id) (max_over_time(tpudiag_run_ended{where}[2h])) == 1",
        summary="nothing is heard of {{ $labels.job_name }} on {{ $labels.worker }}",
        text=f"For {limits.absent_min} minutes nothing was scraped of a job that had not ended: "
        "its machine or `tpudiag watch` is gone, or the scrape fails. Next: tpudiag watch "
        "tpudiag-logs --once",
    )


def _silence(where: str, limits: Limits) -> Iterator[Rule]:
    """The job runs and makes no step."""
    yield Rule(
        id="no-first-step",
        alert="TpudiagNoFirstStep",
        expr=f"tpudiag_run_age_seconds{where} > {60 * limits.first_step_min} "
        f"and tpudiag_steps{where} < 1",
        summary="{{ $labels.job_name }} has made no first step "
        f"within {limits.first_step_min} minutes",
        text="It waits for the TPU, for data, or for another host, or compiles without end. "
        "Next: tpudiag attach PID",
    )
    yield Rule(
        id="no-step",
        alert="TpudiagNoStep",
        expr=f"tpudiag_silent_seconds{where} > {60 * limits.silent_min} "
        f"and tpudiag_steps{where} > 0",
        summary=f"{{{{ $labels.job_name }}}} has made no step for {limits.silent_min} minutes",
        text="It hangs, or is in a pause longer than this. Next: tpudiag attach PID",
    )


def _shares(where: str, limits: Limits) -> Iterator[Rule]:
    """HBM and input above their limits."""
    yield Rule(
        id="hbm-high",
        alert="TpudiagHbmHigh",
        expr=f"tpudiag_hbm_used_share{where} > {limits.hbm_share:g}",
        for_min=5,
        severity="warning",
        summary=f"over {limits.hbm_share:.0%} of the HBM of {{{{ $labels.job_name }}}} in use",
        text="The next larger batch or shape will not fit. Next: tpudiag check train.py --for "
        "v5e-8 --select TPU3",
    )
    yield Rule(
        id="input-bound",
        alert="TpudiagInputBound",
        expr=f"avg_over_time(tpudiag_input_wait_share{where}[10m]) > {limits.input_share:g}",
        severity="warning",
        summary=f"{{{{ $labels.job_name }}}} waits for input over {limits.input_share:.0%} of "
        "the time",
        text="Over ten minutes of step time. Next: tpudiag check train.py --select TPU2",
    )


def _lost(where: str) -> Rule:
    """Steps that were made and could not be recorded."""
    return Rule(
        id="lost-steps",
        alert="TpudiagLostSteps",
        expr=f"increase(tpudiag_lost_steps_total{where}[10m]) > 0",
        severity="warning",
        summary="steps of {{ $labels.job_name }} are not recorded",
        text="The recording's disk is full or slow: what is shown is less than what was done.",
    )


def _plugin_memory(limits: Limits) -> Rule:
    """HBM by the device plugin, which knows no job."""
    return Rule(
        id="chip-memory-high",
        alert="TpuChipMemoryHigh",
        expr=f"memory_used{PLUGIN} / memory_total{PLUGIN} > {limits.hbm_share:g}",
        for_min=5,
        severity="warning",
        summary=f"over {limits.hbm_share:.0%} of the HBM of chip {{{{ $labels.accelerator_id }}}}",
        text="By GKE's TPU device plugin. Next: tpudiag check train.py --for v5e-8 --select TPU3",
    )


def as_yaml(wanted: Sequence[Rule]) -> str:
    """The rules as a file of Prometheus."""
    lines = ["groups:", f"  - name: {GROUP}", "    rules:"]
    for rule in wanted:
        lines += [
            f"      - alert: {rule.alert}",
            # A JSON string is a YAML string, with all of PromQL's quotes and braces in it.
            f"        expr: {json.dumps(rule.expr)}",
            *([f"        for: {rule.for_min}m"] if rule.for_min else []),
            "        labels:",
            f"          severity: {rule.severity}",
            "        annotations:",
            f"          summary: {json.dumps(rule.summary, ensure_ascii=False)}",
            f"          description: {json.dumps(rule.text, ensure_ascii=False)}",
        ]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """A value between double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
