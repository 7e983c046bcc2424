"""The alert policies of a job, as the Cloud Monitoring API writes them in JSON."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from tpudiag.monitoring.cloud.sender import PREFIX

# Cloud Monitoring's own rule: the first slash becomes a colon, dots and the other slashes
# underscores.
PROMQL = PREFIX.replace(".", "_").replace("/", ":", 1).replace("/", "_")
MANAGED_BY, JOB, POLICY = "managed_by", "tpudiag_job", "tpudiag_policy"
Json = dict[str, "object"]
SILENT_WHEN_LATE = (
    "Points that are late (Cloud Monitoring was not reached from the job) never raise it: it is "
    "judged by the newest minutes alone, and on nothing while there are none. What began and ended "
    "during such an outage is not alerted."
)
FIRES_WHEN_LATE = (
    "It cannot tell a job that is gone from one whose points are late: it fires too when Cloud "
    "Monitoring is not reached from the job for so long, until the points have been caught up."
)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When the policies fire; shares are 0 to 1."""

    drop: float = 0.20
    input_share: float = 0.20
    hbm_share: float = 0.95
    first_step_min: int = 20
    silent_min: int = 20
    absent_min: int = 10


@dataclass(frozen=True, kw_only=True)
class Policy:
    """One policy: fires where `query` gives anything, or where `absent` has no points."""

    id: str
    title: str
    text: str
    next_command: str
    severity: Literal["ERROR", "WARNING"]
    for_s: int
    query: str = ""
    absent: str = ""

    @property
    def when_late(self) -> str:
        """What it does while Cloud Monitoring is not reached, and points come late."""
        return FIRES_WHEN_LATE if self.absent else SILENT_WHEN_LATE


def policies(job: str, resource: str, limits: Limits) -> tuple[Policy, ...]:
    """The policies of a job whose workers write to this kind of resource."""
    where = selector(job, resource)
    return (
        _throughput_drop(where, limits),
        _no_points(job, resource, limits),
        *_silence(where, limits),
        *_shares(where, limits),
    )


def _throughput_drop(where: str, limits: Limits) -> Policy:
    """Against the job's own trailing median."""
    rate = f"{PROMQL}steps_per_second{where}"
    return Policy(
        id="throughput-drop",
        title=f"throughput fell by {limits.drop:.0%}",
        text=f"The steps a second of the last ten minutes are {limits.drop:.0%} below the job's "
        "own median of the six hours before.",
        next_command="tpudiag attach HOST:PORT",
        severity="ERROR",
        for_s=0,
        query=f"(avg_over_time({rate}[10m]) / quantile_over_time(0.5, {rate}[6h] offset 15m)) "
        # 60 points of 30 s: with less than half an hour the median is that of the warm-up. The
        # offset keeps the drop itself out of it.
        f"< {1 - limits.drop:g} and count_over_time({rate}[6h] offset 15m) > 60",
    )


def _no_points(job: str, resource: str, limits: Limits) -> Policy:
    """Nothing arrives."""
    place = "resource" if resource == "generic_task" else "metric"
    return Policy(
        id="no-points",
        title=f"no points for {limits.absent_min} minutes",
        text="Nothing arrives of the job: its machine or `tpudiag watch` is gone, or the job has "
        "ended. Delete the job's alerts when it is done: `tpudiag alerts delete`.",
        next_command="tpudiag watch tpudiag-logs --once",
        severity="ERROR",
        for_s=60 * limits.absent_min,
        absent=f'metric.type="{PREFIX}steps" AND resource.type="{resource}" AND '
        f'{place}.labels.{_label(resource)}="{_escaped(job)}"',
    )


def _silence(where: str, limits: Limits) -> tuple[Policy, ...]:
    """The job runs and makes no step."""
    steps = f"{PROMQL}steps{where}"
    return (
        Policy(
            id="no-first-step",
            title=f"no first step within {limits.first_step_min} minutes",
            text="The job runs and has not made its first step: it waits for the TPU, for data, or "
            "for another host, or compiles without end.",
            next_command="tpudiag attach PID",
            severity="ERROR",
            for_s=0,
            query=f"{PROMQL}run_age_seconds{where} > {60 * limits.first_step_min} and {steps} < 1",
        ),
        Policy(
            id="no-step",
            title=f"no step for {limits.silent_min} minutes",
            text="The job has made steps and makes none any more: it hangs, or is in a pause "
            "longer than this.",
            next_command="tpudiag attach PID",
            severity="ERROR",
            for_s=0,
            query=f"{PROMQL}silent_seconds{where} > {60 * limits.silent_min} and {steps} > 0",
        ),
    )


def _shares(where: str, limits: Limits) -> tuple[Policy, ...]:
    """HBM and input above their limits."""
    return (
        Policy(
            id="hbm-high",
            title=f"HBM above {limits.hbm_share:.0%}",
            text=f"More than {limits.hbm_share:.0%} of the HBM that programs may use is in use on "
            "the fullest device: the next larger batch or shape will not fit. Needs the "
            "generation: ThroughputCallback(tpu='v5e-8'), or TPU_ACCELERATOR_TYPE in the "
            "environment.",
            next_command="tpudiag check train.py --for v5e-8 --select TPU3",
            severity="WARNING",
            for_s=300,
            query=f"{PROMQL}hbm_used_share{where} > {limits.hbm_share:g}",
        ),
        Policy(
            id="input-bound",
            title=f"more than {limits.input_share:.0%} of the step waits for input",
            text=f"More than {limits.input_share:.0%} of step time goes by waiting for input.",
            next_command="tpudiag check train.py --select TPU2",
            severity="WARNING",
            for_s=0,
            query=f"avg_over_time({PROMQL}input_wait_share{where}[10m]) > {limits.input_share:g}",
        ),
    )


def selector(job: str, resource: str) -> str:
    """The series of a job, in PromQL."""
    return f'{{monitored_resource="{resource}",{_label(resource)}="{_escaped(job)}"}}'


def _label(resource: str) -> str:
    """The label that holds the job: one of generic_task itself, else one of the metric."""
    # Containers and instances have no label for a job, so the metric brings one, under a name that
    # none of the resources has.
    return "job" if resource == "generic_task" else "training_job"


def as_json(policy: Policy, job: str, channels: tuple[str, ...] = ()) -> Json:
    """The policy as the API's JSON."""
    fields: Json = {
        "displayName": f"tpudiag {job}: {policy.title}",
        "documentation": {"content": document(policy, job), "mimeType": "text/markdown"},
        "userLabels": labels(job, policy.id),
        "conditions": [condition(policy)],
        "combiner": "OR",
        "severity": policy.severity,
        "alertStrategy": {"autoClose": "1800s"},
    }
    return {**fields, "notificationChannels": list(channels)} if channels else fields


def condition(policy: Policy) -> Json:
    """Its one condition."""
    if policy.query:
        return {
            "displayName": policy.title,
            "conditionPrometheusQueryLanguage": {
                "query": policy.query,
                "duration": f"{policy.for_s}s",
                # The shortest that the API takes; others are multiples of it.
                "evaluationInterval": "30s",
                # Policies are applied before the job's first point, by Terraform before the metrics
                # are even described: the service would refuse names that it does not know yet.
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
    return f"{policy.text}\n\nJob: {job}\n\nNext: `{policy.next_command}`\n\n{policy.when_late}"


def labels(job: str, policy_id: str) -> dict[str, str]:
    """The user labels by which `apply` knows the policy again."""
    return {MANAGED_BY: "tpudiag", JOB: slug(job), POLICY: policy_id}


def slug(job: str) -> str:
    """The job's name as a user label may hold it; two names never share one."""
    # 54, a hyphen and 8 digits of the hash: the 63 characters that a label may have.
    plain = re.sub(r"[^a-z0-9_-]", "-", job.lower())[:54]
    if plain == job:
        return plain
    return f"{plain}-{hashlib.sha1(job.encode()).hexdigest()[:8]}"


def _escaped(text: str) -> str:
    """A value between double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
