import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.commands.called import Done, called, refused, told
from tests.sources.job.programs import printed
from tests.sources.profile import spaces

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
REAL = "../shared/profiles/v6e-4-inference"


def read(*arguments: str | Path) -> Done:
    return called("read", *arguments, cwd=ROOT)


def beside_phases(done: Done) -> str:
    """What is said on stderr; a phase that takes seconds here is reported, too."""
    return re.sub(r"tpudiag: [^\n]*: [\d.]+ s\n", "", done.stderr)


def report(*arguments: str | Path) -> dict[str, Any]:
    done = read(*arguments, "--format", "json", "--fail-on", "never")
    assert beside_phases(done) == ""
    return told(done)


def figures(found: dict[str, Any]) -> dict[str, Any]:
    return {name: figure["value"] for name, figure in found["measurements"].items()}


@pytest.fixture
def real() -> str:
    if not (ROOT / REAL).is_dir():
        pytest.skip("the real v6e profile is not here (../shared/profiles)")
    return REAL


def test_the_real_profile(real: str) -> None:
    found = report(real)
    seen = figures(found)
    assert found["subject"]["kind"] == "profile"
    assert found["target"] == {"name": "v6e-4", "replicas": 4}
    assert (seen["device_kind"], seen["devices"], seen["chips"], seen["hosts"]) == (
        "TPU v6 Lite",
        4,
        4,
        1,
    )
    assert (seen["peak_compute"], round(seen["peak_hbm_bandwidth"])) == (918.0, 1638)
    assert seen["device_busy_ms"] + seen["device_idle_ms"] == pytest.approx(91050, rel=0.01)
    assert seen["device_idle_share"] == pytest.approx(13.4, abs=0.15)
    assert seen["step_time_ms"] == pytest.approx(784, abs=1)
    assert seen["host_memory_share"] == pytest.approx(97, abs=0.5)
    assert any("whether it trains is not known" in note for note in found["notes"])
    assert all(outcome["verdict"] != "broken" for outcome in found["outcomes"])
    verdicts = {outcome["id"]: outcome["verdict"] for outcome in found["outcomes"]}
    assert verdicts["TPU210"] == "failed", "it waits for host memory"
    assert verdicts["TPU405"] == verdicts["TPU406"] == "skipped", "and is not busy computing"


def test_the_real_profile_as_text(real: str) -> None:
    done = read(real)
    assert (done.returncode, beside_phases(done)) == (0, "")
    for part in ("TPU v6 Lite", "copy-done.4", "What the devices wait for", "host memory 97%"):
        assert part in done.stdout
    command = f"xprof --logdir {(ROOT / real).resolve()} --port 6006"
    assert command in " ".join(done.stdout.split())


def test_a_capture_without_a_tpu_is_a_rehearsal(tmp_path: Path) -> None:
    made = spaces.space()
    spaces.add_host(made, (100.0, 125.0), asked=[("python", 101.0, 4.0)])
    spaces.write(made, tmp_path)
    done = read(tmp_path)
    assert done.returncode == 0
    assert "without a TPU" in done.stdout
    assert "rehearsal" in done.stdout
    assert report(tmp_path)["target"] is None


def test_the_command_to_open_a_bare_file(tmp_path: Path) -> None:
    file = tmp_path / "my profile.xplane.pb"
    file.write_bytes(spaces.training(steps=2).SerializeToString())
    done = read(file, "--xprof-limit", "0")
    text = " ".join(done.stdout.split())
    assert shlex.quote(str(file)) in text
    assert "xprof --logdir" in text


def test_list_and_run(tmp_path: Path) -> None:
    made = spaces.training(steps=2)
    for run in ("2024_01_01_00_00_00", "2025_01_01_00_00_00"):
        spaces.write(made, tmp_path, run)
    listed = read(tmp_path, "--list")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [
        "2025_01_01_00_00_00",
        "2024_01_01_00_00_00",
    ]
    assert "2024_01_01" in report(tmp_path, "--run", "2024_01_01_00_00_00")["subject"]["name"]
    assert "2025_01_01" in report(tmp_path)["subject"]["name"]
    assert f"{tmp_path}: --run 2023: no run of this name" in refused(
        read(tmp_path, "--run", "2023")
    )


def test_xprof_alone_cannot_spoil_the_report(tmp_path: Path) -> None:
    spaces.write(spaces.training(steps=2), tmp_path)
    done = read(tmp_path, "--xprof-limit", "0.001", "--fail-on", "never")
    assert done.returncode == 0
    assert "XProf says nothing" in done.stdout


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    file = spaces.write(spaces.training(steps=2), tmp_path)
    file.parent.chmod(0o555)
    try:
        assert read(tmp_path, "--fail-on", "never").returncode == 0
        assert [f.name for f in file.parent.iterdir()] == [file.name]
    finally:
        file.parent.chmod(0o755)


def test_the_report_lies_beside_the_profile_where_that_is_asked_for(tmp_path: Path) -> None:
    spaces.write(spaces.training(steps=4), tmp_path, "run")
    found = report(tmp_path, "--xprof-limit", "0")
    assert [file.name for file in tmp_path.iterdir()] == ["plugins"]
    for _ in range(2):  # it is read again as before
        again = report(tmp_path, "--xprof-limit", "0", "--tensorboard")
        assert again["measurements"] == found["measurements"]
        assert sorted(file.name for file in tmp_path.iterdir()) == ["plugins", "tpudiag"]
        (written,) = (tmp_path / "tpudiag" / "run").iterdir()
        assert b"tpudiag/report" in written.read_bytes()


def test_no_tensorflow_is_imported(tmp_path: Path) -> None:
    spaces.write(spaces.training(steps=2), tmp_path)
    code = (
        "import sys; from tpudiag.cli import main;"
        "main(['read', sys.argv[1], '--fail-on', 'never']);"
        "sys.exit(any(m in sys.modules for m in ('tensorflow', 'xprof', 'jax')))"
    )
    printed(code, str(tmp_path))


def test_a_path_of_two_lines_is_told_on_one(tmp_path: Path) -> None:
    said = refused(read(tmp_path / "a\nb"))
    assert said == f"tpudiag: {tmp_path}/a b: does not exist"
