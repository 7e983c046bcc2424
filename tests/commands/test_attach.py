"""`tpudiag attach` to real trainers in processes of their own: a custom loop, Keras fit, others."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import grpc
import pytest
from jsonschema import Draft202012Validator

from tests import tpu_emulator as tpus
from tests.commands.called import Done, called, refused, told
from tests.loopback import free_port
from tpudiag.sources.live import profiler_messages
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.channel import channel, details_of, method

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "live_trainer.py"
WITHOUT_TENSORFLOW = """\
import sys
sys.modules["tensorflow"] = None
from tpudiag.cli import main
sys.exit(main())
"""
LAUNCHER = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, *sys.argv[1:]]))"


@dataclass
class Trainer:
    """A trainer in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    steps_file: Path

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    def steps(self) -> int:
        return self.steps_file.stat().st_size

    def still_trains(self) -> bool:
        """Waits for ten steps more."""
        begun, until = self.steps(), time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < until:
            if self.steps() > begun + 10:
                return True
            time.sleep(0.02)
        return False


def start(kind: str, folder: Path, port: int | None = None, launched: bool = False) -> Trainer:
    port = free_port() if port is None else port
    steps_file = folder / f"{kind}-{port}"
    arguments = [*(["-c", LAUNCHER] if launched else []), str(SCRIPT), kind, str(port)]
    process = subprocess.Popen(
        [sys.executable, *arguments, str(steps_file)], stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        start_new_session=True,
    )  # fmt: skip
    return Trainer(process, port, steps_file)


@pytest.fixture(scope="module")
def trainers(tmp_path_factory: pytest.TempPathFactory) -> Generator[dict[str, Trainer]]:
    """All trainers of this module, started side by side, each once it trains."""
    folder = tmp_path_factory.mktemp("trainers")
    made = {
        "loop": start("loop", folder),
        "fit": start("fit", folder),
        "idle": start("idle", folder),
        "victim": start("loop", folder),
        "launched": start("loop", folder, 0, launched=True),
    }
    try:
        for trainer in made.values():
            assert trainer.process.stdout is not None
            assert trainer.process.stdout.readline() == "ready\n"
        yield made
    finally:
        for trainer in made.values():
            os.killpg(trainer.process.pid, signal.SIGKILL)
            trainer.process.wait()


def command(folder: Path, *arguments: str) -> list[str]:
    where = ["--log-dir", str(folder / "logs")] if arguments else []
    return [sys.executable, "-c", WITHOUT_TENSORFLOW, "attach", *arguments, *where]


def attach(folder: Path, *arguments: str, env: dict[str, str] | None = None) -> Done:
    where = ["--log-dir", str(folder / "logs")] if arguments else []
    return called("attach", *arguments, *where, cwd=ROOT, env=env)


def report(done: Done | subprocess.CompletedProcess[str], code: int = 0) -> dict[str, Any]:
    found = told(done, code)
    schema = json.loads(files("tpudiag.reports").joinpath("report-v1.schema.json").read_text())
    Draft202012Validator(schema).validate(found)  # pyright: ignore[reportUnknownMemberType]
    return found


def captured(folder: Path) -> list[str]:
    """The files of the profile; what the report leaves for TensorBoard lies beside it."""
    return sorted(
        file.name for file in folder.rglob("*") if file.is_file() and "plugins" in file.parts
    )


def profiling(address: str) -> bool:
    """Whether another capture is running there: a short one of our own is refused."""
    request = profiler_messages.profile_request("tests", "host", 1, "")
    host, _, port = address.rpartition(":")
    with channel(Address(host, int(port))) as opened:
        try:
            method(opened, profiler_messages.PROFILE)(request, timeout=800)
        except grpc.RpcError as error:
            return "Another profiling session" in details_of(error)
    return False


def capturing(folder: Path, address: str, duration: str) -> subprocess.Popen[str]:
    """A `tpudiag attach` whose capture has begun; again where our look collided with its start."""
    until = time.monotonic() + 60
    while True:
        process = subprocess.Popen(
            command(folder, address, "--duration", duration, "--format", "json"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip
        while process.poll() is None:
            time.sleep(0.1)  # leaves it time to begin: two captures at once are refused
            if list(folder.glob("logs/plugins/profile/*")) and profiling(address):
                return process
            assert time.monotonic() < until
        assert "another capture" in process.communicate()[1]


def test_the_list(trainers: dict[str, Trainer], tmp_path: Path) -> None:
    text = attach(tmp_path)
    assert (text.returncode, text.stderr) == (0, "")
    lines = {line.split()[0]: line for line in text.stdout.splitlines() if line}
    for kind in ("loop", "fit", "idle"):
        trainer = trainers[kind]
        line = lines[str(trainer.process.pid)]
        assert "TensorFlow 2." in line
        assert trainer.address in line
    found = json.loads(called("attach", "--format", "json").stdout)
    by_pid = {trainer["pid"]: trainer for trainer in found["trainers"]}
    loop = by_pid[trainers["loop"].process.pid]
    assert loop["profilers"] == [trainers["loop"].address]
    assert loop["framework"].startswith("TensorFlow 2.")
    assert "live_trainer.py loop" in loop["command"]
    assert trainers["launched"].process.pid not in by_pid, "a launcher is no trainer"


def test_a_custom_loop(trainers: dict[str, Trainer], tmp_path: Path) -> None:
    trainer = trainers["loop"]
    asked = command(tmp_path, trainer.address, "--duration", "1s", "--format", "json")
    done = subprocess.run(asked, check=False, capture_output=True, text=True, timeout=800)
    found = report(done)
    assert done.stderr == ""
    assert found["subject"] == {"kind": "trainer", "name": trainer.address}
    seen = {name: figure["value"] for name, figure in found["measurements"].items()}
    assert seen["steps"] > 3
    assert 0 < seen["step_time_ms"] < seen["capture_ms"]
    assert seen["capture_ms"] > 500, "of the second that was asked for"
    assert "step_num" in found["measurements"]["step_time_ms"]["source"]
    assert captured(tmp_path) == [f"localhost_{trainer.port}.xplane.pb"]
    again = called("read", tmp_path / "logs", "--format", "json")
    measured = json.loads(again.stdout)["measurements"]
    assert measured["step_time_ms"] == found["measurements"]["step_time_ms"]
    assert trainer.still_trains()


def test_keras_fit_by_pid(trainers: dict[str, Trainer], tmp_path: Path) -> None:
    trainer = trainers["fit"]
    found = report(
        attach(tmp_path, str(trainer.process.pid), "--duration", "1s", "--format", "json")
    )
    assert found["subject"]["name"] == trainer.address
    assert found["measurements"]["step_time_ms"]["value"] > 0
    assert trainer.still_trains()


def test_several_at_once_and_one_that_fails(trainers: dict[str, Trainer], tmp_path: Path) -> None:
    nobody = f"localhost:{free_port()}"
    both = [trainers["loop"].address, trainers["fit"].address]
    done = attach(
        tmp_path, ",".join([*both, nobody]), trainers["idle"].address, "--duration", "1s",
        "--format", "json",
    )  # fmt: skip
    found = report(done, 1)
    assert found["measurements"]["hosts"]["value"] == 2
    assert f"2 of 4 hosts could not be read: {nobody} (nobody listens there" in found["partial"]
    assert "no trace event" in found["partial"]
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == [
        nobody, trainers["idle"].address,
    ]  # fmt: skip
    assert len(captured(tmp_path)) == 2
    starts = [started_ns(file) for file in (tmp_path / "logs").rglob("*.pb")]
    assert abs(starts[0] - starts[1]) < 1e9, "neither waits for the other's second to end"


def started_ns(file: Path) -> int:
    from tpudiag.sources.profile import facts

    started = facts(file)[0].started_ns
    assert started is not None
    return started


def test_an_idle_trainer(trainers: dict[str, Trainer], tmp_path: Path) -> None:
    done = attach(tmp_path, trainers["idle"].address, "--duration", "300ms")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{trainers['idle'].address}: no trace event" in line
    assert f"Where the main thread of pid {trainers['idle'].process.pid} was" in done.stdout
    assert "live_trainer.py" in done.stdout, "the line at which it hangs"
    assert not (tmp_path / "logs" / "plugins").exists(), "an empty run would be no profile"


def test_two_captures_at_once(trainers: dict[str, Trainer], tmp_path: Path) -> None:
    trainer = trainers["loop"]
    first = capturing(tmp_path / "first", trainer.address, "12s")
    said = refused(attach(tmp_path / "second", trainer.address, "--duration", "200ms"))
    assert "another capture is running in it" in said
    out, err = first.communicate(timeout=800)
    assert (first.returncode, err) == (0, "")
    assert json.loads(out)["measurements"]["steps"]["value"] > 3
    assert trainer.still_trains()


def test_ctrl_c_ends_the_capture_at_the_trainer_too(
    trainers: dict[str, Trainer], tmp_path: Path
) -> None:
    trainer = trainers["loop"]
    process = capturing(tmp_path, trainer.address, "30s")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "tpudiag: interrupted\n")
    assert captured(tmp_path) == []
    done = attach(tmp_path, trainer.address, "--duration", "300ms")
    assert done.returncode in (0, 1), "its profiler is free again, whatever ails the trainer"
    assert trainer.still_trains()


def test_a_trainer_that_dies_in_mid_capture(trainers: dict[str, Trainer], tmp_path: Path) -> None:
    victim = trainers["victim"]
    process = capturing(tmp_path, victim.address, "30s")
    victim.process.kill()
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    (line,) = err.splitlines()
    assert f"{victim.address}: the trainer went away during the capture" in line
    assert captured(tmp_path) == []


def test_a_trainer_without_a_server_found_by_its_launcher(
    trainers: dict[str, Trainer], tmp_path: Path
) -> None:
    launcher = trainers["launched"]
    done = attach(tmp_path, str(launcher.process.pid), "--duration", "1s", "--format", "json")
    found = report(done, 2)
    (line,) = done.stderr.splitlines()
    assert "runs no profiler server; add tf.profiler.experimental.server.start(6009)" in line
    assert any(f"Pid {launcher.process.pid} is not the trainer" in note for note in found["notes"])
    (table,) = found["tables"]
    rows = {row[0].partition(":")[0]: row for row in table["rows"]}
    assert str(SCRIPT) in rows, "the line of the user's own code"
    assert found["summary"]["passed"] == 0, "nothing was measured"
    assert launcher.still_trains()


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root to give up a right"
)
def test_the_setting_that_a_container_lacks(trainers: dict[str, Trainer], tmp_path: Path) -> None:
    launcher = trainers["launched"]
    without = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]
    done = subprocess.run(
        [*without, *command(tmp_path, str(launcher.process.pid), "--duration", "1s")],
        check=False, capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "container": "docker"},
    )  # fmt: skip
    assert "SYS_PTRACE" in refused(done)
    assert launcher.still_trains()


def test_all_workers_of_a_tpu(trainers: dict[str, Trainer], tmp_path: Path) -> None:
    trainer = trainers["loop"]
    node = tpus.node("mine", health="UNHEALTHY_MAINTENANCE", scheduling_config={"spot": True})
    with tpus.emulated([node]) as emulator:
        done = attach(
            tmp_path, "--tpu", "mine", "--project", "trial", "--port", str(trainer.port),
            "--duration", "500ms", "--format", "json",
            env={"TPU_EMULATOR_HOST": emulator.host},
        )  # fmt: skip
    found = report(done, 1)
    assert done.stderr == ""
    assert found["measurements"]["step_time_ms"]["value"] > 0
    assert found["target"] == {"name": "v4-8", "replicas": 4}
    assert found["tables"][0]["rows"][1] == ["health", "UNHEALTHY_MAINTENANCE"]
    assert any("preemptible or Spot" in note for note in found["notes"])
    failed = [outcome["id"] for outcome in found["outcomes"] if outcome["verdict"] == "failed"]
    assert "TPU003" in failed
