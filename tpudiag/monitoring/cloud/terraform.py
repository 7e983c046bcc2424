"""The alert policies as Terraform, for the google provider."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from tpudiag.monitoring.cloud.policies import Policy, document, labels, slug


def terraform(wanted: Sequence[Policy], job: str, channels: Sequence[str]) -> str:
    """A file with one `google_monitoring_alert_policy` each; channels by display name."""
    parts = [_channel(name) for name in channels]
    parts += [_resource(policy, job, channels) for policy in wanted]
    return "\n".join(parts)


def _channel(name: str) -> str:
    """A notification channel that is there already."""
    return (
        f'data "google_monitoring_notification_channel" {_quoted(_identifier(name))} {{\n'
        f"  display_name = {_quoted(name)}\n}}\n"
    )


def _resource(policy: Policy, job: str, channels: Sequence[str]) -> str:
    """One policy."""
    name = _identifier(f"{slug(job)}_{policy.id}")
    refer = [f"data.google_monitoring_notification_channel.{_identifier(c)}.name" for c in channels]
    marks = "\n".join(
        f"    {key} = {_quoted(value)}" for key, value in labels(job, policy.id).items()
    )
    lines = [
        f'resource "google_monitoring_alert_policy" {_quoted(name)} {{',
        f"  display_name = {_quoted(f'tpudiag {job}: {policy.title}')}",
        '  combiner     = "OR"',
        f"  severity     = {_quoted(policy.severity)}",
        *([f"  notification_channels = [{', '.join(refer)}]"] if refer else []),
        f"  user_labels = {{\n{marks}\n  }}",
        "  conditions {",
        f"    display_name = {_quoted(policy.title)}",
        *_condition(policy),
        "  }",
        "  documentation {",
        '    mime_type = "text/markdown"',
        f"    content   = {_quoted(document(policy, job))}",
        "  }",
        "  alert_strategy {",
        '    auto_close = "1800s"',
        "  }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _condition(policy: Policy) -> list[str]:
    """What it fires on."""
    if policy.query:
        return [
            "    condition_prometheus_query_language {",
            f"      query                     = {_quoted(policy.query)}",
            f'      duration                  = "{policy.for_s}s"',
            '      evaluation_interval       = "30s"',
            "      disable_metric_validation = true",
            "    }",
        ]
    return [
        "    condition_absent {",
        f"      filter   = {_quoted(policy.absent)}",
        f'      duration = "{policy.for_s}s"',
        "      aggregations {",
        '        alignment_period   = "60s"',
        '        per_series_aligner = "ALIGN_MAX"',
        "      }",
        "    }",
    ]


def _quoted(text: str) -> str:
    """A string of HCL; `${` and `%{` would begin a template."""
    plain = json.dumps(text, ensure_ascii=False)
    return plain.replace("${", "$${").replace("%{", "%%{")


def _identifier(text: str) -> str:
    """A name of HCL."""
    plain = re.sub(r"\W", "_", text, flags=re.ASCII).lower()
    return plain if plain[:1].isalpha() else f"_{plain}"
