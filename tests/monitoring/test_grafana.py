"""The Grafana dashboard: charts that do not overlap, on metrics that are served."""

from __future__ import annotations

import json
import re
from typing import Any

from tpudiag.monitoring import grafana
from tpudiag.monitoring.metrics import COUNTERS, METRICS

PLUGIN = {
    "duty_cycle",
    "tensorcore_utilization",
    "memory_bandwidth_utilization",
    "memory_used",
    "memory_total",
}


def made(job: str | None = None) -> dict[str, Any]:
    board: dict[str, Any] = json.loads(json.dumps(grafana.as_json(job)))
    return board


def test_charts_ask_for_what_is_served() -> None:
    gauges = {metric.name for metric in METRICS} - {*COUNTERS} | {"alert"}
    served = {f"tpudiag_{name}" for name in gauges} | {f"tpudiag_{name}_total" for name in COUNTERS}
    asked = {
        name
        for panel in made()["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\b(\w+)\{", target["expr"])
    }
    assert asked <= served | PLUGIN
    assert asked >= PLUGIN


def test_charts_do_not_overlap() -> None:
    cells = [
        (x, y)
        for panel in made()["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_a_named_job_is_chosen() -> None:
    variables = {each["name"]: each for each in made("bert")["templating"]["list"]}
    assert variables["job_name"]["current"]["value"] == ["bert"]
    assert variables["worker"]["current"]["value"] == ["$__all"]
    assert made("bert")["title"] == "tpudiag bert"
