"""A Grafana dashboard of the figures of `tpudiag watch --prometheus` and GKE's device plugin."""

from tpudiag.monitoring.prometheus_rules import PLUGIN

Json = dict[str, "object"]
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
    return {
        "title": "tpudiag" if job is None else f"tpudiag {job}",
        "tags": ["tpudiag"],
        "editable": True,
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": _variables(job)},
        "panels": [_panel(number) for number in range(len(PANELS))],
    }


def _variables(job: str | None) -> list[Json]:
    return [
        {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"},
        _choice("job_name", "Job", "label_values(tpudiag_steps_total, job_name)", job),
        _choice(
            "worker", "Worker", 'label_values(tpudiag_steps_total{job_name=~"$job_name"}, worker)'
        ),
    ]


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


def _panel(number: int) -> Json:
    title, unit, queries = PANELS[number]
    row, column = divmod(number, COLUMNS)
    place = {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT}
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}},
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "expr": query,
                "legendFormat": legend,
                "datasource": SOURCE,
            }
            for at, (query, legend) in enumerate(queries)
        ],
    }
