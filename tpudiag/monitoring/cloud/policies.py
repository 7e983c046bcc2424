"""The alert policies of a job, as the Cloud Monitoring API writes them in JSON."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from tpudiag.monitoring.cloud.sender import PREFIX

PROMQL = PREFIX.replace(".", "_").replace("/", ":", 1).replace("/", "_")
MANAGED_BY, JOB, POLICY = "managed_by", "tpudiag_job", "tpudiag_policy"
Json = dict[str, "object"]


@dataclass(frozen=True)
class Limits:
    """When the policies fire; shares are 0 to 1."""

    drop: float = 0.20
    input_share: float = 0.20
    hbm_share: float = 0.95
    first_step_min: int = 20
    silent_min: int = 20
    absent_min: int = 10


@dataclass(frozen=True)
class Policy:
    """One policy: fires where `query` gives anything, or where `absent` has no points."""

    id: str
    title: str
    text: str
    next_command: str
    severity: str
    for_s: int
    query: str = ""
    absent: str = ""


def policies(job: str, resource: str, limits: Limits) -> tuple[Policy, ...]:
    """The policies of a job whose workers write to this kind of resource."""
    label = "job" if resource == "generic_task" else "training_job"
    where = f'{{monitored_resource="{resource}",{label}="{_escaped(job)}"}}'
    place = "resource" if resource == "generic_task" else "metric"

    def metric(name: str) -> str:
        return f"{PROMQL}{name}{where}"

    rate = metric("steps_per_second")
    return (
        Policy(
            "throughput-drop", f"throughput fell by {limits.drop:.0%}",
            f"The steps a second of the last ten minutes are {limits.drop:.0%} below the job's own "
            "median of the six hours before.",
            "tpudiag attach HOST:PORT", "ERROR", 0,
            f"(avg_over_time({rate}[10m]) / quantile_over_time(0.5, {rate}[6h] offset 15m)) "
            f"< {1 - limits.drop:g} and count_over_time({rate}[6h] offset 15m) > 60",
        ),
        Policy(
            "no-points", f"no points for {limits.absent_min} minutes",
            "Nothing arrives of the job: its machine or `tpudiag watch` is gone, or the job has "
            "ended. Delete the job's alerts when it is done: `tpudiag alerts delete`.",
            "tpudiag watch tpudiag-logs --once", "ERROR", 60 * limits.absent_min,
            absent=f'metric.type="{PREFIX}steps" AND resource.type="{resource}" AND '
            f'{place}.labels.{label}="{_escaped(job)}"',
        ),
        Policy(
            "no-first-step", f"no first step within {limits.first_step_min} minutes",
            "The job runs and has not made its first step: it waits for the TPU, for data, or for "
            "another host, or compiles without end.",
            "tpudiag attach PID", "ERROR", 0,
            f"{metric('run_age_seconds')} > {60 * limits.first_step_min} and {metric('steps')} < 1",
        ),
        Policy(
            "no-step", f"no step for {limits.silent_min} minutes",
            "The job has made steps and makes none any more: it hangs, or is in a pause longer "
            "than this.",
            "tpudiag attach PID", "ERROR", 0,
            f"{metric('silent_seconds')} > {60 * limits.silent_min} and {metric('steps')} > 0",
        ),
        Policy(
            "hbm-high", f"HBM above {limits.hbm_share:.0%}",
            f"More than {limits.hbm_share:.0%} of the HBM that programs may use is in use on the "
            "fullest device: the next larger batch or shape will not fit. Needs the generation: "
            "ThroughputCallback(tpu='v5e-8'), or TPU_ACCELERATOR_TYPE in the environment.",
            "tpudiag check train.py --for v5e-8 --select TPU3", "WARNING", 300,
            f"{metric('hbm_used_share')} > {limits.hbm_share:g}",
        ),
        Policy(
            "input-bound", f"more than {limits.input_share:.0%} of the step waits for input",
            f"More than {limits.input_share:.0%} of step time goes by waiting for input.",
            "tpudiag check train.py --select TPU2", "WARNING", 0,
            f"avg_over_time({metric('input_wait_share')}[10m]) > {limits.input_share:g}",
        ),
    )  # fmt: skip


def as_json(policy: Policy, job: str, channels: tuple[str, ...] = ()) -> Json:
    """The policy as the API's JSON."""
    found: Json = {
        "displayName": f"tpudiag {job}: {policy.title}",
        "documentation": {"content": document(policy, job), "mimeType": "text/markdown"},
        "userLabels": labels(job, policy.id),
        "conditions": [condition(policy)],
        "combiner": "OR",
        "severity": policy.severity,
        "alertStrategy": {"autoClose": "1800s"},
    }
    return {**found, "notificationChannels": list(channels)} if channels else found


def condition(policy: Policy) -> Json:
    """Its one condition."""
    if policy.query:
        return {
            "displayName": policy.title,
            "conditionPrometheusQueryLanguage": {
                "query": policy.query,
                "duration": f"{policy.for_s}s",
                "evaluationInterval": "30s",
                "disableMetricValidation": True,
            },
        }
    return {
        "displayName": policy.title,
        "conditionAbsent": {
            "filter": policy.absent,
            "duration": f"{policy.for_s}s",
            "aggregations": [{"alignmentPeriod": "60s", "perSeriesAligner": "ALIGN_MAX"}],
        },
    }


def document(policy: Policy, job: str) -> str:
    """What the alert says to whoever gets it."""
    return f"{policy.text}\n\nJob: {job}\n\nNext: `{policy.next_command}`"


def labels(job: str, policy_id: str) -> dict[str, str]:
    """The user labels by which `apply` knows the policy again."""
    return {MANAGED_BY: "tpudiag", JOB: slug(job), POLICY: policy_id}


def slug(job: str) -> str:
    """The job's name as a user label may hold it; two names never share one."""
    plain = re.sub(r"[^a-z0-9_-]", "-", job.lower())[:54]
    if plain == job:
        return plain
    return f"{plain}-{hashlib.sha1(job.encode()).hexdigest()[:8]}"


def _escaped(text: str) -> str:
    """A value between double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
