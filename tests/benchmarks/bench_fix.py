"""Mends the planted scripts of the corpus: `python -m tests.benchmarks.bench_fix [NAME ...]`.

Each script is copied into a folder of its own and mended by `tpudiag fix --write`; what was planted
must be gone from the file, and a healthy script must stay byte for byte. A planted id for which no
change could be made, with its reason, counts as refused; a script that does not run any more counts
as broken, and makes the exit code 1.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.corpus.run import JOBS, Job, read_job


@dataclass
class Mended:
    """What came of one script."""

    name: str
    seconds: float
    code: int
    rehearsals: int = 0
    losses: str = ""
    states: dict[str, str] = field(default_factory=dict[str, str])
    """Planted id -> mended, refused, dropped or not found, with the reason."""
    changed: bool = False
    said: str = ""


def mend(job: Job, timeout_s: float, options: list[str], keep: Path | None) -> Mended:
    """Run `tpudiag fix --write` on a copy."""
    folder = Path(tempfile.mkdtemp(prefix=f"fix-{job.name}-"))
    try:
        for name in (job.path.name, *job.files):
            shutil.copy(JOBS / name, folder / name)
        output, started = folder / "report-of-tpudiag.json", time.monotonic()
        command = [
            sys.executable, "-P", "-m", "tpudiag", "fix", job.path.name, "--write", "--no-compile",
            "--for", job.target, "--budget", "5", "--measure-input", "0", "--timeout",
            str(timeout_s), "--log-dir", str(folder / "logs-of-tpudiag"), "-o", str(output),
            *job.options, *options, "--", *job.arguments,
        ]  # fmt: skip
        run = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False,
            timeout=timeout_s * 6,
        )  # fmt: skip
        said = run.stdout + run.stderr
        result = Mended(job.name, time.monotonic() - started, run.returncode, said=said[-2000:])
        result.changed = any(
            (folder / name).read_bytes() != (JOBS / name).read_bytes()
            for name in (job.path.name, *job.files)
        )
        if output.is_file():
            _read(job, json.loads(output.read_text()), result)
        elif run.returncode != 2:
            result.states = {"crashed": said.strip().splitlines()[-1]}
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{job.name}.log").write_text(said)
            shutil.copy(folder / job.path.name, keep / job.path.name)
            if output.is_file():
                shutil.copy(output, keep / f"{job.name}.json")
        return result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(job: Job, report: dict[str, Any], result: Mended) -> None:
    """What became of each planted defect."""
    mending: dict[str, Any] = report.get("mending") or {}
    result.rehearsals, result.losses = mending.get("rehearsals", 0), mending.get("losses", "")
    outcomes = {outcome["id"]: outcome for outcome in report["outcomes"]}
    for planted in job.planted:
        findings = outcomes.get(planted.id, {}).get("findings", [])
        result.states[planted.id] = "; ".join(dict.fromkeys(map(_state, findings))) or "not found"


def _state(finding: dict[str, Any]) -> str:
    """What became of one finding."""
    change = finding.get("change")
    if change is None:
        return f"refused: {finding.get('no_change')}"
    if change["state"] == "written":
        return "mended"
    return f"{change['state']}: {change['proof']}"


def main() -> int:
    """Mend the chosen scripts one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="scripts that begin so (default: all)")
    parser.add_argument("--timeout", type=float, default=240.0)
    parser.add_argument("--unsafe", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder for the mended scripts and their logs")
    options = parser.parse_args()
    begins = options.names or ["tpu", "many", "healthy"]
    paths = [
        path
        for begin in begins
        for path in sorted(JOBS.glob(f"{begin}*.py"))
        if path.read_text(encoding="utf-8").startswith("# corpus: must-fail")
    ]
    counts: Counter[str] = Counter()
    broken = 0
    for path in paths:
        job = read_job(path)
        result = mend(job, options.timeout, ["--unsafe"] if options.unsafe else [], options.keep)
        for state in result.states.values():
            counts[state.partition(":")[0]] += 1
        wrong = not job.planted and result.changed
        broken += wrong
        states = ", ".join(f"{id_} {state}" for id_, state in result.states.items())
        print(
            f"{job.name}: exit {result.code}, {result.rehearsals} rehearsals, "
            f"{result.seconds:.0f} s; {states or ('CHANGED' if wrong else 'untouched')}",
            f"    {result.losses}" if result.losses else "",
            f"    {result.said.strip().splitlines()[-1]}" if result.code not in (0, 1) else "",
            sep="\n", flush=True,
        )  # fmt: skip
    print(dict(counts), f"{broken} healthy scripts changed")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
