"""`tpudiag watch` as users run it: in a process, on recordings and event files."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest

from tests.commands.called import Done, called
from tests.loopback import free_port
from tests.monitoring import event_files, recordings
from tests.monitoring.emulator import Emulator
from tpudiag.monitoring.store import Store

pytestmark = pytest.mark.slow


STEADY = [1.0] * 900
FINE = dict.fromkeys(("TPU608", "TPU609", "TPU610"), "passed")
UNKNOWN = {"TPU201": "skipped", "TPU607": "skipped", **FINE}
"""The wait was not measured, and it was no hour."""
COMMAND = [sys.executable, "-m", "tpudiag", "watch"]


def watch(*arguments: str | Path, cwd: Path | None = None) -> Done:
    return called("watch", *arguments, cwd=cwd)


def verdicts(*arguments: str | Path) -> dict[str, str]:
    done = watch(*arguments, "--once", "--format", "json")
    assert done.stderr == "", done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    failed = any(o["verdict"] == "failed" for o in found["outcomes"])
    assert done.returncode == int(failed)
    return {outcome["id"]: outcome["verdict"] for outcome in found["outcomes"]}


@pytest.mark.parametrize(
    ("took_s", "recorded", "changed"),
    [
        (STEADY, {}, {"TPU603": "passed"}),
        (STEADY + [1.5] * 60, {}, {"TPU603": "failed"}),
        (STEADY, {"silent_s": 700}, {"TPU603": "passed", "TPU604": "failed"}),
        # An announced pause is granted longer, and a run that ended did not stall.
        (STEADY, {"silent_s": 700, "pausing": "evaluation"}, {"TPU603": "passed"}),
        (STEADY, {"silent_s": 90_000, "ended_ns": time.time_ns()}, {"TPU603": "passed"}),
        ([], {"silent_s": 1_300}, {"TPU604": "failed", "TPU608": "skipped"}),
        ([], {"silent_s": 100}, {"TPU604": "skipped", "TPU608": "skipped"}),
    ],
)
def test_a_recording_is_judged_by_its_steps_and_its_silence(
    tmp_path: Path, took_s: list[float], recorded: dict[str, Any], changed: dict[str, str]
) -> None:
    recordings.write(tmp_path / "a.sqlite", took_s, **recorded)
    expected = {**UNKNOWN, "TPU603": "skipped", "TPU604": "passed", **changed}
    assert verdicts(tmp_path) == expected


def test_what_ails_a_job_is_said_with_its_figures(tmp_path: Path) -> None:
    recordings.write(tmp_path / "slow.sqlite", STEADY + [1.5] * 60)
    said = watch(tmp_path / "slow.sqlite", "--once").stdout
    assert "33% below the job's baseline" in said and "42.67 examples/s" in said
    recordings.write(tmp_path / "silent.sqlite", STEADY, silent_s=700)
    assert "train.py: no step for 7" in watch(tmp_path / "silent.sqlite", "--once").stdout


def test_the_steps_of_event_files(tmp_path: Path) -> None:
    now = time.time()
    fast = [now - 2_000 + number for number in range(900)]
    slow = [now - 1_100 + 2 * number for number in range(540)]
    events = [event_files.event(at, step) for step, at in enumerate(fast + slow)]
    event_files.write(tmp_path / "train", events)
    assert verdicts(tmp_path) == {**UNKNOWN, "TPU603": "failed", "TPU604": "passed"}


def test_silence_of_event_files_may_be_the_end_of_the_job(tmp_path: Path) -> None:
    for days, verdict in ((0.1, "failed"), (3, "skipped")):
        then = time.time() - 86_400 * days - 900
        folder = tmp_path / str(days)
        event_files.write(folder, [event_files.event(then + n, n) for n in range(900)])
        assert verdicts(folder)["TPU604"] == verdict


class Live:
    """A `tpudiag watch` that runs, and what it says on stderr."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *arguments, "--interval", "0.05"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        assert self.process.stderr is not None
        self.said: list[str] = []
        self._news = threading.Condition()
        threading.Thread(target=self._listen, args=(self.process.stderr,), daemon=True).start()

    def _listen(self, stream: IO[str]) -> None:
        for row in stream:
            with self._news:
                self.said.append(row)
                self._news.notify_all()

    def wait_for(self, text: str) -> None:
        with self._news:
            heard = self._news.wait_for(lambda: any(text in row for row in self.said), 200)
        assert heard, self.said

    def end(self) -> tuple[int, str]:
        assert self.process.stdout is not None
        out = self.process.stdout.read()
        return self.process.wait(100), out


def test_live_from_before_the_job_to_its_end(tmp_path: Path) -> None:
    live = Live(
        tmp_path, "a.sqlite", "-v", "--idle", "1s", "--on-alert",
        "echo hook $TPUDIAG_ALERT $TPUDIAG_STATE >&2",
    )  # fmt: skip
    path = tmp_path / "a.sqlite"
    run = recordings.run(900)
    store = Store(path)
    steady = recordings.windows(run.started_ns, STEADY)
    store.write(run, tuple(steady), ())
    live.wait_for("64 examples/s, +0% against its baseline")
    slow = recordings.windows(steady[-1].end_ns, [1.6] * 60, 900)
    store.write(run, tuple(slow), ())
    live.wait_for("alert: TPU603 throughput-drop")
    live.wait_for("hook TPU603 raised")
    fast = recordings.windows(slow[-1].end_ns, [1.0] * 60, 960)
    store.write(run, tuple(fast), ())
    live.wait_for("alert: TPU603 throughput-drop: over")
    live.wait_for("hook TPU603 over")
    ended = replace(run, ended_ns=time.time_ns())
    store.write(ended, (), ())
    store.close()
    code, out = live.end()
    assert code == 0
    assert "the run has ended" in out
    assert "drops that are over" in out
    assert sum("alert: TPU603" in row for row in live.said) == 2
    assert sum("hook" in row for row in live.said) == 2


def test_interrupted_it_reports_what_was_seen(tmp_path: Path) -> None:
    recordings.write(tmp_path / "a.sqlite", STEADY)
    live = Live(tmp_path, "a.sqlite", "-v")
    live.wait_for("64 examples/s")
    live.process.send_signal(signal.SIGINT)
    code, out = live.end()
    assert code == 130
    assert "TPU603 throughput-drop" in out


def test_prometheus_gets_the_figures(tmp_path: Path) -> None:
    recordings.write(tmp_path / "a.sqlite", STEADY + [1.5] * 60, name='a "job"')
    port = free_port()
    live = Live(tmp_path, "a.sqlite", "--prometheus", str(port))
    live.wait_for("examples/s")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=100) as answer:
        rows = answer.read().decode().splitlines()
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    live.process.terminate()
    live.end()
    figures = {row.partition("{")[0]: row.rpartition(" ")[2] for row in rows if row[0] != "#"}
    assert float(figures["tpudiag_examples_per_second"]) == pytest.approx(64 / 1.5, rel=0.01)
    assert float(figures["tpudiag_baseline_ratio"]) == pytest.approx(1 / 1.5, rel=0.01)
    assert float(figures["tpudiag_steps_total"]) == 960
    assert "tpudiag_hbm_used_bytes" not in figures, "not measured, not claimed"
    alerts = [row for row in rows if row.startswith("tpudiag_alert{")]
    fired = [row for row in alerts if 'id="TPU603"' in row]
    assert [float(row.rpartition(" ")[2]) for row in fired] == [1.0], rows
    assert all('job_name="a \\"job\\""' in row for row in alerts)


def test_cloud_monitoring_gets_the_figures(tmp_path: Path) -> None:
    recordings.write(tmp_path / "a.sqlite", STEADY)
    emulator = Emulator()
    cloud = ("--project", "p", "--endpoint", emulator.endpoint, "--job", "bert")
    try:
        done = watch(tmp_path / "a.sqlite", "--once", *cloud, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Cloud Monitoring: " in done.stdout
        assert "points accepted" in done.stdout
        by_name = {key[0].rpartition("/")[2]: points for key, points in emulator.series.items()}
        ((_, value),) = by_name["examples_per_second"]
        assert value == pytest.approx(64)
        resources = {key[2:] for key in emulator.series}
        ((kind, labels),) = resources
        assert kind == "generic_task"
        assert dict(labels)["job"] == "bert"
        assert dict(labels)["task_id"].startswith(f"{os.uname().nodename}-")
    finally:
        emulator.close()
    done = watch(tmp_path / "a.sqlite", "--once", *cloud, "--buffer", "b", cwd=tmp_path)
    assert done.returncode == 0
    assert "not reached, points are kept on disk" in done.stderr
    assert "waiting in b; not reached" in done.stdout


def test_the_next_run_of_a_job_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    store = Store(path)
    first = replace(recordings.run(100), ended_ns=time.time_ns())
    store.write(first, tuple(recordings.windows(first.started_ns, [1.0] * 50)), ())
    live = Live(tmp_path, "a.sqlite", "--idle", "3")
    live.wait_for("the run has ended")
    second = replace(recordings.run(40), id="next", name="second.py")
    store.write(second, tuple(recordings.windows(second.started_ns, [1.0] * 30)), ())
    crashed = replace(second, ended_ns=time.time_ns(), failure="ValueError: x (t.py:1)")
    store.write(crashed, (), ())
    store.close()
    code, out = live.end()
    assert code == 1
    assert "the job ended by ValueError: x (t.py:1)" in out
    assert "TPU609 run-failed" in out
