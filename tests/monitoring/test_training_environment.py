"""`track` in a training environment: installed without dependencies, light, standard library."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRAINS = """
import sys, time
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
started = time.process_time()
import tpudiag
took_s = time.process_time() - started
steps = list(tpudiag.track(range(5), global_batch_size=8, path=sys.argv[2]))
tpudiag.ThroughputCallback()
own = sys.stdlib_module_names | {"tpudiag"}
print([m for m in sys.modules.keys() - before if m.partition(".")[0] not in own])
print(took_s)
"""
KNOWN = "import time; t = time.process_time(); import asyncio; print(time.process_time() - t)"


def trained(python: str, folder: str, recording: Path) -> tuple[str, float]:
    """The modules of others that a loop with `track` imported, and the seconds of our import."""
    done = subprocess.run(
        [python, "-I", "-c", TRAINS, folder, str(recording)],
        capture_output=True,
        text=True,
        timeout=800,
        check=True,
    )
    modules, took_s = done.stdout.splitlines()
    return modules, float(took_s)


@pytest.mark.slow
def test_it_imports_the_standard_library_alone(tmp_path: Path) -> None:
    runs: list[tuple[str, float]] = []
    known_s: list[float] = []
    for number in range(3):
        runs.append(trained(sys.executable, str(ROOT), tmp_path / f"{number}.sqlite"))
        known_s.append(float(subprocess.check_output([sys.executable, "-I", "-c", KNOWN])))
    assert runs[0][0] == "[]"
    # Of the processor's time, which others on the machine do not make longer; asyncio takes 50 ms.
    assert min(took_s for _, took_s in runs) < 0.6 * min(known_s)
    assert (tmp_path / "0.sqlite").stat().st_size


@pytest.mark.slow
def test_it_is_installed_without_dependencies(tmp_path: Path) -> None:
    environment = tmp_path / "training"
    venv.create(environment, symlinks=True, with_pip=True)
    python = str(environment / "bin" / "python")
    source = tmp_path / "source"  # a build leaves files beside what it builds
    for folder in ("tpudiag", "checks", "reports"):
        shutil.copytree(ROOT / folder, source / folder)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, source / file)
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-deps", str(source)],
        timeout=800,
        check=True,
        capture_output=True,
    )
    modules, _ = trained(python, str(tmp_path), tmp_path / "run.sqlite")
    assert modules == "[]"
    frozen = subprocess.run(
        [python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True
    ).stdout
    assert [line.split("==")[0].split(" ")[0] for line in frozen.splitlines()] == ["tpudiag"]
