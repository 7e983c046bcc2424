"""The exported rules in promtool's own tests: each fires on its own trouble, and not beside it."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tpudiag.monitoring import prometheus_rules
from tpudiag.monitoring.alert_rules import Limits, Rule
from tpudiag.monitoring.metrics import COUNTERS, METRICS
from tpudiag.monitoring.prometheus_rules import alert_name, as_yaml, rules

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)"
)
ME = 'job_name="bert",host="h",worker="h"'
FIRST, SECOND = f'{{{ME},run_id="1"}}', f'{{{ME},run_id="2"}}'


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60
    )


def series(name: str, values: str, labels: str = FIRST) -> dict[str, str]:
    served = f"tpudiag_{name}{'_total' * (name in COUNTERS)}"
    return {"series": f"{served}{labels}", "values": values}


def case(inputs: list[dict[str, str]], expected: dict[str, dict[int, int]]) -> dict[str, object]:
    """Series by the minute, and for some alerts how many fire at which minute."""
    found = {alert_name(rule): rule for rule in rules(None, Limits())}
    return {
        "interval": "1m",
        "input_series": inputs,
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)',
                "eval_time": f"{minute}m",
                "exp_samples": [{"labels": "{}", "value": count}],
            }
            for alert, times in expected.items()
            if found[alert]
            for minute, count in times.items()
        ],
    }


AGES = [series("run_age_seconds", "0+60x60"), series("silent_seconds", "0+60x60")]


def run(began: int, values: str, ended: str = "", labels: str = FIRST) -> list[dict[str, str]]:
    """A run that began at a minute: its points, and where it ended well."""
    wait = f"_x{began} " if began else ""
    return [
        series("run_started_seconds", f"{wait}{1_000 + 60 * began}{values}", labels),
        series("ended_run_seconds", f"{wait}{ended or '0' + values}", labels),
        series("steps", f"{wait}1{values}", labels),
    ]


CASES = {
    "a check that fails": case(
        [
            series("alert", "0x10 1x10", f'{{{ME},run_id="1",id="TPU603"}}'),
            series("alert", "0x20", f'{{{ME},run_id="1",id="TPU604"}}'),
        ],
        {"TpudiagCheckFailed": {5: 0, 11: 0, 13: 1}},
    ),
    "a check on the edge of its limit calls nobody": case(
        [series("alert", "0x3 " + "1 0 " * 20, f'{{{ME},run_id="1",id="TPU201"}}')],
        {"TpudiagCheckFailed": {10: 0, 20: 0, 30: 0}},
    ),
    "a drop by just the limit, ten minutes after the start": case(
        [series("baseline_ratio", "1x10 0.8x30")],
        {"TpudiagThroughputDrop": {9: 0, 25: 1}},
    ),
    "a restart with another batch has the baseline of its examples": case(
        [series("baseline_ratio", "1x100"), series("baseline_ratio", "_x101 0.98x100", SECOND)],
        {"TpudiagThroughputDrop": {90: 0, 110: 0, 150: 0}},
    ),
    "two slow minutes call nobody": case(
        [series("baseline_ratio", "1x30 0.7x1 1x30")],
        {"TpudiagThroughputDrop": {31: 0, 33: 0, 40: 0}},
    ),
    "a job that is gone, and one that ended": case(
        [*run(0, "x60"), *run(0, "x60", "0x58 1000x1", '{job_name="done",worker="w",run_id="1"}')],
        {"TpudiagNoPoints": {60: 0, 65: 0, 80: 1, 175: 1}},
    ),
    "a death after a run that had ended well": case(
        [*run(0, "x40", "0x39 1000"), *run(50, "x30", labels=SECOND)],
        {"TpudiagNoPoints": {45: 0, 52: 0, 75: 0, 95: 1}},
    ),
    "a clean end after a death": case(
        [*run(0, "x40"), *run(50, "x30", "0x29 4000", labels=SECOND)],
        {"TpudiagNoPoints": {45: 0, 55: 0, 95: 0, 150: 0}},
    ),
    "a job that was restarted is not gone": case(
        [*run(0, "x60"), *run(64, "x60", labels=SECOND)],
        {"TpudiagNoPoints": {75: 0, 100: 0}},
    ),
    "no first step": case(
        [*AGES, series("steps", "0x40 1+1x20")],
        {"TpudiagNoFirstStep": {19: 0, 22: 1, 42: 0}, "TpudiagNoStep": {35: 0}},
    ),
    "no step": case(
        [
            series("run_age_seconds", "9000+60x60"),
            series("steps", "100x60"),
            series("silent_seconds", "0+60x60"),
        ],
        {"TpudiagNoFirstStep": {40: 0}, "TpudiagNoStep": {19: 0, 22: 1}},
    ),
    "shares": case(
        [series("hbm_used_share", "0.9x10 0.97x10"), series("input_wait_share", "0.1x10 0.5x20")],
        {"TpudiagHbmHigh": {14: 0, 17: 1}, "TpudiagInputBound": {10: 0, 20: 1}},
    ),
    "the device plugin": case(
        [
            {"series": 'memory_used{make="cloud-tpu",accelerator_id="0"}', "values": "97x20"},
            {"series": 'memory_used{make="nvidia",accelerator_id="0"}', "values": "99x20"},
            {"series": 'memory_total{make="cloud-tpu",accelerator_id="0"}', "values": "100x20"},
            {"series": 'memory_total{make="nvidia",accelerator_id="0"}', "values": "100x20"},
        ],
        {"TpuChipMemoryHigh": {3: 0, 10: 1}},
    ),
}


@pytest.mark.slow
@needs_promtool
def test_each_rule_fires_on_its_own_trouble_alone(tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text(as_yaml(rules(None, Limits())))
    tests = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [*CASES.values()]}
    (tmp_path / "tests.yml").write_text(json.dumps(tests))
    done = promtool("test", "rules", tmp_path / "tests.yml")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
@pytest.mark.parametrize("job", [None, "bert", 'a "b" \\ {{ $x }} ${y}'])
def test_the_rules_and_the_charts_are_promql(tmp_path: Path, job: str | None) -> None:
    charts = [query for *_, queries in prometheus_rules.PANELS for query, _ in queries]
    queries = [query.replace("$__rate_interval", "5m") for query in charts]
    empty = Rule(id="", title="", text="", next_command="", query="")
    extra = [replace(empty, id=f"c{n}", query=query) for n, query in enumerate(queries)]
    every = (*rules(job, Limits(drop=0.3)), *extra)
    (tmp_path / "rules.yml").write_text(as_yaml(every))
    done = promtool("check", "rules", tmp_path / "rules.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(every)} rules found" in done.stdout + done.stderr


def test_every_rule_is_tried() -> None:
    tried = json.dumps(CASES)
    assert all(alert_name(rule) in tried for rule in rules(None, Limits()))


def test_a_named_job_has_its_own_series_only() -> None:
    selectors = [
        selector
        for rule in rules("bert", Limits())
        for selector in re.findall(r"tpudiag_\w+(?:\{[^}]*\})?", rule.query)
    ]
    assert selectors
    assert all(selector.endswith('{job_name="bert"}') for selector in selectors)


PLUGIN = {
    "duty_cycle",
    "tensorcore_utilization",
    "memory_bandwidth_utilization",
    "memory_used",
    "memory_total",
}


def made(job: str | None = None) -> dict[str, Any]:
    board: dict[str, Any] = json.loads(json.dumps(prometheus_rules.as_json(job)))
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


def test_a_named_job_is_chosen() -> None:
    variables = {each["name"]: each for each in made("bert")["templating"]["list"]}
    assert variables["job_name"]["current"]["value"] == ["bert"]
    assert variables["worker"]["current"]["value"] == ["$__all"]
    assert made("bert")["title"] == "tpudiag bert"
