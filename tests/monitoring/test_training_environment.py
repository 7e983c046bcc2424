"""`track` in a training environment: installed without dependencies, light, standard library."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.sources.job.programs import printed, ran

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
    modules, took_s = ran(python, "-I", "-c", TRAINS, folder, str(recording)).stdout.splitlines()
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
    environment, source = tmp_path / "training", tmp_path / "source"
    venv.create(environment, symlinks=True)
    for folder in ("tpudiag", "checks", "reports"):  # a build leaves files beside what it builds
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("*.pyc"))
    for file in ("pyproject.toml", "README.md", "setup.py"):
        shutil.copy(ROOT / file, source / file)
    build = "from setuptools import build_meta; build_meta.build_wheel('.')"
    printed(build, cwd=source)
    (wheel,), (packages,) = source.glob("*.whl"), environment.glob("lib/*/site-packages")
    with ZipFile(wheel) as built:
        built.extractall(packages)  # as an installer does
    modules, _ = trained(str(environment / "bin/python"), str(tmp_path), tmp_path / "run.sqlite")
    assert modules == "[]"
