"""The generator of XSpaces, the real profile, and XProf's own answers."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tpudiag.sources.profile import ask_xprof

REAL = Path(__file__).parents[4] / "shared" / "profiles" / "v6e-4-inference"


@pytest.fixture(scope="session")
def real() -> Path:
    if not REAL.is_dir():
        pytest.skip("the real v6e profile is not here (../shared/profiles)")
    return next(REAL.rglob("*.xplane.pb"))


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Any]:
    """XProf's own answer for a tool and the files of a run, one a host."""

    def answer(file: Path, tool: str, *more: Path) -> Any:
        links = [tmp_path / "xprof/plugins/profile/run" / f.name for f in (file, *more)]
        links[0].parent.mkdir(parents=True, exist_ok=True)
        for link, target in zip(links, (file, *more), strict=True):
            if not link.exists():
                link.symlink_to(target)
        out = tmp_path / f"{tool}.json"
        command = [sys.executable, "-P", str(ask_xprof.__file__), str(out), tool, *map(str, links)]
        subprocess.run(command, check=True, capture_output=True)
        return json.loads(out.read_bytes())

    return answer
