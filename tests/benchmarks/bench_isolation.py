"""Where a job is kept apart by which means, and what that costs; no part of the test run.

    python -m tests.benchmarks.bench_isolation [--cost RUNS]

The table: on machines that allow more or less, imitated here, the means that is taken, and how many
of the harms of `harms.py` changed a file. The cost: the reference job over a layer and in place, in
turn, on a machine that does nothing else.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.sources.job.process.isolation.places import (
    changed,
    harmed,
    make,
    place,
    python_of,
    state,
)
from tests.sources.job.process.isolation.test_chosen import MATRIX, RARER, Machine, asked

TPUDIAG = (sys.executable, "-m", "tpudiag", "check", "--no-compile", "--first-loop")
OPTIONS = ("--measure-input", "0", "--steps", "60", "--format", "json")
WAYS = {"in place": ("--in-place",), "layer": ()}
FIGURES = {"a step, ms": "step_time_ms", "the job, s": "job_wall_time_s"}
CPU = "CPU of all, s"
"""Of what is measured it hangs least on what else the machine does."""


def row(machine: Machine) -> str:
    """A machine, what is taken there, and what was harmed."""
    with place(machine.user) as where:
        means = asked(where, machine)["isolation"]
        if means == "refused":
            return f"{machine.name:<46} {means:<10} the script ends at its first write"
        make(where)
        before = state(where)
        harmed(where, means, before=machine.command(where.python))
        harmed_entries = len(changed(where, before))
        return f"{machine.name:<46} {means:<10} {harmed_entries} of {len(before)} entries changed"


def measured(way: str) -> dict[str, float]:
    """One run of the reference job."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = [*TPUDIAG, *OPTIONS, *WAYS[way]]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report: dict[str, Any] = json.loads(done.stdout)
    figures = {name: report["measurements"][key]["value"] for name, key in FIGURES.items()}
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {CPU: cpu_s, **figures}


def cost(runs: int) -> None:
    """The medians of both ways, and what the layer adds."""
    seen: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for number in range(runs):
        for way in list(WAYS)[:: 1 if number % 2 else -1]:
            seen[way].append(measured(way))
            print(way, seen[way][-1], flush=True)
    for name in (CPU, *FIGURES):
        medians = {way: statistics.median(run[name] for run in seen[way]) for way in WAYS}
        added = medians["layer"] / medians["in place"] - 1
        print(f"{name}: " + ", ".join(f"{way} {value:.2f}" for way, value in medians.items()),
              f"({added:+.1%})")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cost", type=int, default=0, metavar="RUNS")
    runs: int = parser.parse_args().cost
    if runs:
        cost(runs)
        return
    os.chdir(Path(__file__).parents[2])
    for machine in (*MATRIX, *RARER):
        if machine.user is None or (os.getuid() == 0 and python_of(machine.user)):
            print(row(machine), flush=True)


if __name__ == "__main__":
    main()
