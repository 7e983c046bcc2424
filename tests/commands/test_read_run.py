"""A run of several hosts: the merge, stragglers, clocks, missing hosts, exit codes."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands.called import Done, called, told
from tests.sources.profile import spaces

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RUN = Path("plugins/profile/2025_05_01_00_00_00")


def read(*arguments: str | Path) -> Done:
    return called("read", *arguments, "--xprof-limit", "0", cwd=ROOT)


def report(folder: Path, code: int = 0) -> dict[str, Any]:
    return told(read(folder, "--format", "json", "--fail-on", "never"), code)


def outcome(found: dict[str, Any], id_: str) -> dict[str, Any]:
    return next(o for o in found["outcomes"] if o["id"] == id_)


def table(found: dict[str, Any], title: str) -> list[list[Any]]:
    rows: list[list[Any]] = next(t for t in found["tables"] if t["title"].startswith(title))["rows"]
    return rows


def pod(folder: Path, hosts: int = 4, **odd: dict[str, Any]) -> None:
    """A healthy pod but for the hosts whose settings are given, e.g. host_2={...}."""
    for number in range(hosts):
        name = f"host_{number}"
        made = spaces.pod_host(name, **odd.get(name, {}))
        spaces.write(made, folder, host=name)


def test_where_the_step_time_goes(tmp_path: Path) -> None:
    pod(tmp_path)
    found = report(tmp_path)
    figures = {name: m["value"] for name, m in found["measurements"].items()}
    assert (figures["hosts"], figures["devices"], figures["steps"]) == (4, 8, 12)
    assert figures["step_time_ms"] == pytest.approx(20)
    source = found["measurements"]["step_time_ms"]["source"]
    assert source == "profile, slowest of 8 replicas, Steps line of 8 devices"
    assert figures["compute_share"] == pytest.approx(70)
    assert figures["collectives_share"] == pytest.approx(25)
    assert figures["input_share"] == pytest.approx(5)
    # 9 TFLOP in 14 of 20 ms of a chip of 918 TFLOP/s
    assert figures["mxu_utilization"] == pytest.approx(100 * 9.0 / 0.020 / 918, rel=0.01)
    assert figures["compute_16bit_share"] == 100
    assert found["partial"] is None
    rows = {row[0]: row for row in table(found, "Roofline")}
    assert rows["matmul.1"][1] == pytest.approx(9.0 / 0.014)
    assert rows["matmul.1"][2] == pytest.approx(100 * 9.0 / 0.014 / 918, rel=1e-3)
    assert rows["matmul.1"][3] == pytest.approx(0.5 / 0.014)
    assert rows["matmul.1"][5] == "compute"
    assert rows["infeed.1"][5] == "infeed"
    assert outcome(found, "TPU503")["verdict"] == "passed"
    assert outcome(found, "TPU403")["verdict"] == "passed"


@pytest.mark.parametrize(
    ("odd", "why", "fix"),
    [
        ({"input_ms": 4.0}, "its input is late", "service"),
        ({"compute_ms": 17.0}, "data skew", "AutoShardPolicy"),
    ],
)
def test_a_straggler_is_named(tmp_path: Path, odd: dict[str, Any], why: str, fix: str) -> None:
    pod(tmp_path, host_2=odd)
    said = outcome(report(tmp_path), "TPU503")
    assert said["verdict"] == "failed"
    assert {f["message"].split(" ")[0] for f in said["findings"]} == {"host_2"}
    assert {f["message"].split(" ")[1] for f in said["findings"]} == {
        "/device:TPU:0",
        "/device:TPU:1",
    }
    for finding in said["findings"]:
        assert why in finding["message"]
        assert fix in finding["fix"]
        assert finding["cost_ms_per_step"] == pytest.approx(3.0)


def test_all_wait_for_the_input_of_one(tmp_path: Path) -> None:
    pod(tmp_path, host_2={"input_ms": 4.0})
    found = report(tmp_path)
    waits = found["measurements"]["input_wait_share"]
    assert waits["value"] == pytest.approx(20), "of 4 hosts, the one that holds up the step counts"
    assert "the replica that the others wait for" in waits["source"]
    assert outcome(found, "TPU201")["verdict"] == "failed"


def test_the_stragglers_trace_says_why(tmp_path: Path) -> None:
    pod(tmp_path)
    slow = spaces.pod_host("host_2", input_ms=4.0)
    spaces.add_reading(slow, starts=[50.0 + 20 * n for n in range(12)], read_ms=3.5)
    spaces.write(slow, tmp_path, host="host_2")
    said = outcome(report(tmp_path), "TPU503")
    assert {f["message"].split(" ")[0] for f in said["findings"]} == {"host_2"}
    for finding in said["findings"]:
        assert "its input is late (mostly TFRecord: it reads: slow storage or" in finding["message"]
        assert "interleave" in finding["fix"]
        (waited,) = (e for e in finding["evidence"] if e["name"].startswith("waited for"))
        assert waited["name"] == "waited for Root::Prefetch::TFRecord"
        assert waited["value"] == pytest.approx(12 * 3.5)


def test_two_hosts_are_too_few_to_name_one(tmp_path: Path) -> None:
    pod(tmp_path, 2, host_1={"compute_ms": 17.0})
    said = outcome(report(tmp_path), "TPU503")
    assert said["verdict"] == "skipped"
    assert "2 hosts" in said["reason"]


def test_clocks_that_differ_are_measured_and_harm_nothing(tmp_path: Path) -> None:
    pod(tmp_path, host_1={"clock_ms": 37.5}, host_3={"clock_ms": -12.0})
    found = report(tmp_path)
    assert [row[1] for row in table(found, "Clock differences")] == pytest.approx(
        [0, 37.5, 0, -12.0]
    )
    assert found["measurements"]["step_time_ms"]["value"] == pytest.approx(20)
    assert outcome(found, "TPU503")["verdict"] == "passed"


def test_an_unreadable_host_is_missed_in_every_figure(tmp_path: Path) -> None:
    pod(tmp_path, 5)
    broken = tmp_path / RUN / "host_1.xplane.pb"
    broken.write_bytes(broken.read_bytes()[:999])
    (tmp_path / RUN / "host_3.xplane.pb").write_bytes(b"")
    done = read(tmp_path, "--format", "json", "--fail-on", "never")
    found = told(done, 1)  # a run that was not read whole is never a clean exit
    assert "2 of 5 hosts could not be read: host_1 (truncated" in done.stderr
    assert "host_3" in found["partial"]
    for name, measurement in found["measurements"].items():
        assert "without host_1, host_3 (unreadable)" in measurement["source"], name
    assert found["measurements"]["hosts"]["value"] == 3
    assert [row[0] for row in table(found, "Hosts that could not be read")] == ["host_1", "host_3"]
    said = outcome(found, "TPU503")
    assert said["verdict"] == "skipped", "the straggler may be the one that is missing"
    for checked in found["outcomes"]:
        for evidence in checked["evidence"]:
            assert "unreadable" in evidence["source"], checked["id"]


HELD_AT_THE_LAST = """
import sys, time
from tests.sources.profile import spaces
from tpudiag.cli import main
from tpudiag.sources.profile import run_reader

read = run_reader.attempted

def held(file, *rest):
    if "host_9" in file:
        print("reading", flush=True)
        while True:
            time.sleep(0.01)
    return read(file, *rest)

run_reader.attempted = held
sys.exit(main())
"""


def test_ctrl_c_leaves_what_was_read(tmp_path: Path) -> None:
    pod(tmp_path, 2)
    spaces.write(spaces.pod_host("host_9"), tmp_path, host="host_9")
    command = [sys.executable, "-c", HELD_AT_THE_LAST, "read", str(tmp_path), "--format", "json"]
    with subprocess.Popen(
        [*command, "--xprof-limit", "0"], stdout=-1, stderr=-1, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=800)
    assert process.returncode == 130, err
    found = json.loads(out)
    assert found["measurements"]["hosts"]["value"] == 2
    assert "interrupted before 1 of 3 hosts were read" in found["partial"]
    assert "Traceback" not in err
