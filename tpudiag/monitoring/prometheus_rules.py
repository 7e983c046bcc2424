"""For Prometheus: alert rules on the figures of `watch` and GKE's plugin, a Grafana dashboard.

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
    # HBM from the device plugin, which does not know jobs.
    plugin_memory = Rule(
        id="chip-memory-high",
        title=f"over {limits.hbm_share:.0%} of the HBM of a chip in use",
        query=f"memory_used{PLUGIN} / memory_total{PLUGIN} > {limits.hbm_share:g}",
        for_min=5,
        severity="WARNING",
        text="By GKE's TPU device plugin.",
        next_command="tpudiag check train.py --for v5e-8 --select TPU3",
    )
    return (*own,) if job else (*own, plugin_memory)


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


Json = dict[str, object]
WHERE = '{job_name=~"$job_name",worker=~"$worker"}'
WORKER, CHIP = "{{worker}}", "{{node}} chip {{accelerator_id}}"
SOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT, COLUMNS = 12, 8, 2
Query = tuple[str, str]
"""PromQL, and its legend."""

STEP_TIMES = tuple(
    (f"tpudiag_step_time_{name}_ms{WHERE}", f"{name} {WORKER}") for name in ("p50", "p90", "p99")
)
IN_USE = (
    (f"tpudiag_hbm_used_share{WHERE}", WORKER),
    (f"memory_used{PLUGIN} / memory_total{PLUGIN}", CHIP),
)
STEPS_AN_HOUR = f"3600 * rate(tpudiag_steps_total{WHERE}[$__rate_interval])"
LOST = f"increase(tpudiag_lost_steps_total{WHERE}[$__rate_interval])"
PANELS: tuple[tuple[str, str, tuple[Query, ...]], ...] = (
    ("Throughput, examples/s", "short", ((f"tpudiag_examples_per_second{WHERE}", WORKER),)),
    ("Throughput over its baseline", "percentunit", ((f"tpudiag_baseline_ratio{WHERE}", WORKER),)),
    ("Step time", "ms", STEP_TIMES),
    ("Waiting for input", "percentunit", ((f"tpudiag_input_wait_share{WHERE}", WORKER),)),
    ("HBM in use", "percentunit", IN_USE),
    ("Since the last step", "s", ((f"tpudiag_silent_seconds{WHERE}", WORKER),)),
    ("Steps an hour", "short", ((STEPS_AN_HOUR, WORKER),)),
    ("Steps not recorded", "short", ((LOST, WORKER),)),
    ("Checks that fail", "short", ((f"tpudiag_alert{WHERE} == 1", "{{id}} " + WORKER),)),
    ("TensorCore duty cycle", "percent", ((f"duty_cycle{PLUGIN}", CHIP),)),
    ("TensorCore utilisation", "percent", ((f"tensorcore_utilization{PLUGIN}", CHIP),)),
    ("HBM bandwidth", "percent", ((f"memory_bandwidth_utilization{PLUGIN}", CHIP),)),
)
"""The last three, and chips, come from the device plugin."""


def as_json(job: str | None) -> Json:
    """The dashboard for Grafana's import; of a job, or with a choice of all."""
    jobs, workers = "tpudiag_steps_total", 'tpudiag_steps_total{job_name=~"$job_name"}'
    source = {"name": "datasource", "type": "datasource", "query": "prometheus"}
    return {
        "title": "tpudiag" if job is None else f"tpudiag {job}",
        "tags": ["tpudiag"],
        "editable": True,
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {
            "list": [
                {**source, "label": "Prometheus"},
                _choice("job_name", "Job", f"label_values({jobs}, job_name)", job),
                _choice("worker", "Worker", f"label_values({workers}, worker)"),
            ]
        },
        "panels": [_panel(number, *panel) for number, panel in enumerate(PANELS)],
    }


def _choice(name: str, label: str, query: str, chosen: str | None = None) -> Json:
    """A variable with all the values of a label."""
    value = chosen or "$__all"
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "refresh": 2,
        "query": {"query": query, "refId": name},
        "definition": query,
        "multi": True,
        "includeAll": True,
        # Without it "All" becomes the alternation of every name that was ever scraped.
        "allValue": ".*",
        "current": {"text": [chosen or "All"], "value": [value], "selected": True},
    }


def _panel(number: int, title: str, unit: str, queries: Sequence[Query]) -> Json:
    row, column = divmod(number, COLUMNS)
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}},
        "targets": [
            {"refId": id_, "expr": query, "legendFormat": legend, "datasource": SOURCE}
            for id_, (query, legend) in zip("ABCDE", queries, strict=False)
        ],
    }
