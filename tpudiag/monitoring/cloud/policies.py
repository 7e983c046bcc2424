"""The alert policies of a job, as the Cloud Monitoring API writes them in JSON."""

import hashlib
import re
from typing import Any

from tpudiag.monitoring.alert_rules import Limits, Rule, escaped, rules
from tpudiag.monitoring.cloud.resource import RESOURCE
from tpudiag.monitoring.cloud.sender import PREFIX

# Cloud Monitoring's own rule: the first slash becomes a colon, dots and the other slashes
# underscores.
PROMQL = PREFIX.replace(".", "_").replace("/", ":", 1).replace("/", "_")
MANAGED_BY, JOB, POLICY = "managed_by", "tpudiag_job", "tpudiag_policy"
Json = dict[str, Any]
SILENT_WHEN_LATE = (
    "Points that are late (Cloud Monitoring was not reached from the job) never raise it: it is "
    "judged by the newest minutes alone, and on nothing while there are none. What began and ended "
    "during such an outage is not alerted."
)
FIRES_WHEN_LATE = (
    "It cannot tell a job that is gone from one whose points are late: it fires too when Cloud "
    "Monitoring is not reached from the job for so long, until the points have been caught up."
)


def policies(job: str, limits: Limits) -> tuple[Rule, ...]:
    """The policies of a job."""
    where = selector(job)
    # A restart continues its series: runs need not be distinguished.
    return (*rules(lambda name: f"{PROMQL}{name}{where}", str, "check", limits),)


def selector(job: str) -> str:
    """The series of a job, in PromQL."""
    return f'{{monitored_resource="{RESOURCE}",job="{escaped(job)}"}}'


def as_json(policy: Rule, job: str, channels: tuple[str, ...] = ()) -> Json:
    """The policy as the API's JSON."""
    when_late = FIRES_WHEN_LATE if policy.id == "no-points" else SILENT_WHEN_LATE
    text = f"{policy.text}\n\nJob: {job}\n\nNext: `{policy.next_command}`\n\n{when_late}"
    fields: Json = {
        "displayName": f"tpudiag {job}: {policy.title}",
        "documentation": {"content": text, "mimeType": "text/markdown"},
        # By these `apply` recognises the policy.
        "userLabels": {MANAGED_BY: "tpudiag", JOB: slug(job), POLICY: policy.id},
        "conditions": [
            {
                "displayName": policy.title,
                "conditionPrometheusQueryLanguage": {
                    "query": policy.query,
                    "duration": f"{60 * policy.for_min}s",
                    # The shortest that the API takes; others are multiples of it.
                    "evaluationInterval": "30s",
                    # Policies are applied before the job's first point, by Terraform before the
                    # metrics are even described: the service would refuse names that it does not
                    # know yet.
                    "disableMetricValidation": True,
                },
            }
        ],
        "combiner": "OR",
        "severity": policy.severity,
        "alertStrategy": {"autoClose": "1800s"},
    }
    return {**fields, "notificationChannels": list(channels)} if channels else fields


def slug(job: str) -> str:
    """The job's name as a valid and unique user label."""
    # 54, a hyphen and 8 digits of the hash: the 63 characters allowed in a label.
    plain = re.sub(r"[^a-z0-9_-]", "-", job.lower())[:54]
    if plain == job:
        return plain
    return f"{plain}-{hashlib.sha1(job.encode()).hexdigest()[:8]}"
