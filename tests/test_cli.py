"""How the command ends where its output goes nowhere."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.called import refused, started

FULL = Path("/dev/full")
LISTS = [sys.executable, "-m", "tpudiag", "explain"]


@pytest.mark.skipif(not FULL.exists(), reason="no full device here")
def test_a_full_disk_is_one_line() -> None:
    with FULL.open("w") as full:
        done = subprocess.run(LISTS, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "tpudiag: No space left on device\n"


def test_a_reader_that_leaves_is_no_error() -> None:
    with subprocess.Popen(LISTS, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


def test_a_settings_file_says_what_holds_for_a_verb(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tpudiag.explain]\nformat = "json"\n')
    done = started("explain", "TPU101", cwd=tmp_path)
    assert (done.returncode, done.stdout[:1]) == (0, "{"), done.stderr
    (tmp_path / "pyproject.toml").write_text("[tool.tpudiag.explain]\nform = 3\n")
    said = refused(started("explain", cwd=tmp_path))
    assert said.endswith("[tool.tpudiag.explain]: form cannot stand there")
