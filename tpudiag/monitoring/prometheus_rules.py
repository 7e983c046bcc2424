"""Alert rules for Prometheus on the figures of `watch --prometheus` and GKE's device plugin.

A restarted job has another `run_id`: queries that look back ignore that label.
"""

import json
from collections.abc import Sequence

from tpudiag.monitoring import alert_rules
from tpudiag.monitoring.alert_rules import Limits, Rule, escaped
from tpudiag.monitoring.metrics import COUNTERS

PLUGIN = '{make="cloud-tpu"}'
"""The series of GKE's TPU device plugin (port 2112 of each node)."""
GROUP = "tpudiag"
SEVERITIES = {"ERROR": "critical", "WARNING": "warning"}
SUMMARIES = {
    "check-failed": "{{ $labels.id }} fails for {{ $labels.job_name }} on {{ $labels.worker }}"
    "{{ with $labels.cause }}: {{ . }}{{ end }}",
    "chip-memory-high": "HBM of chip {{ $labels.accelerator_id }} is nearly full",
}


def rules(job: str | None, limits: Limits) -> tuple[Rule, ...]:
    """The rules of a job, or of all watched ones."""
    where = "" if job is None else f'{{job_name="{escaped(job)}"}}'
    own = alert_rules.rules(
        lambda name: f"tpudiag_{name}{'_total' * (name in COUNTERS)}{where}",
        lambda expression: f"max without (run_id) ({expression})",
        "id",
        limits,
    )
    return own if job else (*own, _plugin_memory(limits))


def _plugin_memory(limits: Limits) -> Rule:
    """HBM from the device plugin, which does not know jobs."""
    return Rule(
        id="chip-memory-high",
        title=f"over {limits.hbm_share:.0%} of the HBM of a chip in use",
        query=f"memory_used{PLUGIN} / memory_total{PLUGIN} > {limits.hbm_share:g}",
        for_min=5,
        severity="WARNING",
        text="By GKE's TPU device plugin.",
        next_command="tpudiag check train.py --for v5e-8 --select TPU3",
    )


def alert_name(rule: Rule) -> str:
    """Its name: TpudiagThroughputDrop."""
    if rule.id == "chip-memory-high":  # of the device plugin, not of tpudiag's own figures
        return "TpuChipMemoryHigh"
    return "Tpudiag" + "".join(word.capitalize() for word in rule.id.split("-"))


def as_yaml(wanted: Sequence[Rule]) -> str:
    """The rules as a file of Prometheus."""
    lines = ["groups:", f"  - name: {GROUP}", "    rules:"]
    for rule in wanted:
        summary = SUMMARIES.get(
            rule.id, f"{{{{ $labels.job_name }}}} on {{{{ $labels.worker }}}}: {rule.title}"
        )
        lines += [
            f"      - alert: {alert_name(rule)}",
            # A JSON string is a YAML string, with all of PromQL's quotes and braces in it.
            f"        expr: {json.dumps(rule.query)}",
            *([f"        for: {rule.for_min}m"] if rule.for_min else []),
            "        labels:",
            f"          severity: {SEVERITIES[rule.severity]}",
            "        annotations:",
            f"          summary: {json.dumps(summary, ensure_ascii=False)}",
            "          description: "
            + json.dumps(f"{rule.text} Next: {rule.next_command}", ensure_ascii=False),
        ]
    return "\n".join(lines) + "\n"
