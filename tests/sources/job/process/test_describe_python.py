"""A Python's description of itself."""

import json
import sys
from importlib.metadata import version
from pathlib import Path

from tests.sources.job.programs import ran
from tpudiag.sources.job.process import describe_python


def test_versions_of_what_is_installed_alone() -> None:
    told = describe_python.describe(["pytest", "no-such-distribution"])
    assert told["distributions"] == {"pytest": version("pytest")}
    assert told["release"] == ".".join(map(str, sys.version_info[:3]))
    assert told["prefix"] == sys.prefix


def test_files_of_the_working_folder_are_not_taken_for_packages(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("raise SystemExit('imported')")
    text = Path(describe_python.__file__).read_text(encoding="utf-8")
    said = ran(sys.executable, "-S", "-c", text, "numpy", cwd=tmp_path).stdout
    line = said.splitlines()[-1]
    assert line.startswith(describe_python.MARK)
    told = json.loads(line.removeprefix(describe_python.MARK))
    assert str(tmp_path) not in str(told["tensorflow"])
