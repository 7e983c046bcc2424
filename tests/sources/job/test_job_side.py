"""What runs in the job's Python needs the standard library alone, from Python 3.10 on."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.sources.job.programs import ran

ROOT = Path(__file__).parents[3] / "tpudiag"
TOOLS_SIDE = {
    "facts", "following", "job_python", "lowering_client",
    "python_places", "runner",
}  # fmt: skip
"""Modules of sources/job/process that run in the tool's own environment."""
LOADER = """
import importlib, sys
from importlib.abc import MetaPathFinder
class Forbidden(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        known = {*sys.stdlib_module_names, "tpudiag"}
        if name.partition(".")[0] not in known and not name.startswith("_sysconfigdata"):
            raise ImportError("third-party: " + name)
sys.meta_path.insert(0, Forbidden())
sys.path[:] = [sys.argv[1], *(p for p in sys.path if "-packages" not in p)]
for name in sys.argv[2].split(","):
    importlib.import_module(name)
print(*sorted(m for m in sys.modules if m.startswith("tpudiag.")))
"""


def modules() -> list[str]:
    """Every module of the job's side but those that begin with `import tensorflow`."""
    files = [
        *(ROOT / "sources" / "job").rglob("*.py"),
        *(ROOT / "signals").glob("*.py"),
        *(ROOT / f"{name}.py" for name in ("model", "compiled", "hardware", "errors", "version")),
        *(ROOT / "monitoring" / f"{name}.py" for name in ("training", "recorder", "store")),
        ROOT / "reference" / "options.py",
    ]
    return [
        ".".join(file.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        for file in files
        if file.stem not in TOOLS_SIDE
    ]


def python_3_10() -> str | None:
    """The Python 3.10 of this machine, None where there is none."""
    known = Path.home().glob(".pyenv/versions/3.10.*/bin/python3.10")
    return next(map(str, known), None) or shutil.which("python3.10")


@pytest.mark.slow
@pytest.mark.parametrize("python", [sys.executable, "3.10"])
def test_it_needs_the_standard_library_alone(python: str) -> None:
    command = python_3_10() if python == "3.10" else python
    if command is None:
        pytest.skip("no Python 3.10 on this machine")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    asked = command, "-B", "-c", LOADER, str(ROOT.parent), ",".join(modules())
    done = ran(*asked, env=plain)
    assert "tpudiag.sources.job.tensorflow.observer" in done.stdout
    assert "tpudiag.sources.job.process.child" in done.stdout
