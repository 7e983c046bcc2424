"""`tpudiag read` leaves its report beside the profile, for TensorBoard, on request."""

from pathlib import Path

import pytest

from tests.sources.profile import spaces
from tpudiag.cli import main

pytestmark = pytest.mark.slow


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    spaces.write(spaces.training(steps=4), tmp_path, "run")
    return tmp_path


def read(logs: Path, *options: str) -> list[str]:
    """What lies in the log folder afterwards."""
    assert main(["read", str(logs), "--xprof-limit", "0", "--fail-on", "never", *options]) == 0
    return sorted(file.name for file in logs.iterdir())


def test_the_report_lies_beside_the_profile(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert read(logs, "--tensorboard") == ["plugins", "tpudiag"]
    (written,) = (logs / "tpudiag" / "run").iterdir()
    assert b"tpudiag/report" in written.read_bytes()
    assert capsys.readouterr().err == ""
    assert read(logs, "--tensorboard") == ["plugins", "tpudiag"], "it is read again as before"


def test_the_folder_stays_as_it_is(logs: Path) -> None:
    assert read(logs) == ["plugins"]
