"""A job of JAX in three releases of it, each in an environment of its own without TensorFlow.

`uv run python -m tests.benchmarks.jax_releases [--folder DIR]`: what ails the job is found in each,
with its lines, for which every name of the table of points is needed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.environments import Row, find, make
from tests.commands.test_check_jax import DISEASED

ROWS = (
    Row("3.11", ("jax==0.4.30", "numpy<2.3")),
    Row("3.11", ("jax==0.6.2",)),
    Row("3.11", ("jax==0.10.2",)),
)
EXPECTED = {"TPU101": 32, "TPU107": 24, "TPU108": 33, "TPU701": 22, "TPU702": 30}
"""Id -> the line of its finding in the job."""


def found(python: str, folder: Path) -> dict[str, int | None]:
    """What a check says of the job that ails."""
    (folder / "train.py").write_text(DISEASED)
    command = [sys.executable, "-P", "-m", "tpudiag", "check", "train.py", "--python", python]
    done = subprocess.run(
        [*command, "--for", "v5e-8", "--no-compile", "--format", "json"],
        cwd=folder, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    lines: dict[str, int | None] = {}
    for outcome in report["outcomes"]:
        if outcome["verdict"] == "failed":
            place: dict[str, Any] | None = outcome["findings"][0]["location"]
            lines[outcome["id"]] = place["line"] if place is not None else None
    return lines


def main() -> int:
    """Try all releases; 1 where one misses something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the environments are, and stay")
    folder = parser.parse_args().folder
    good = True
    with tempfile.TemporaryDirectory(prefix="tpudiag-jax-") as name:
        place = Path(name)
        for row in ROWS:
            if find(row.python) is None:
                print(f"{row.name}: no Python {row.python} on this machine")
                continue
            python = make(row, (folder or place) / row.requirements[0].replace("==", "-"))
            seen = found(python, place)
            missed = {id_: line for id_, line in EXPECTED.items() if seen.get(id_) != line}
            good &= not missed
            print(f"{row.name}: {f'missed {missed} in {seen}' if missed else 'all found'}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
