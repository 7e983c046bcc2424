"""Recording in processes that are killed, on disks that are full, and beside each other."""

import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources.job.programs import ran
from tpudiag.monitoring.reader import read

pytestmark = pytest.mark.slow

TRAINER = """
import sys
from pathlib import Path
from tpudiag.monitoring.recorder import Recorder
from tpudiag.monitoring.store import Store
import tpudiag.monitoring.windows as windows
windows.WINDOW_NS = 100_000            # many windows, so that the kill hits a write
made = Recorder(lambda: Store(Path(sys.argv[1])), "killed", flush_s=0.001)
while True:
    for _ in range(100):
        made.step()
    print(made.stored_steps, flush=True)
"""


def test_sigkill_in_mid_write_loses_nothing_that_was_accepted(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / f"{number}.sqlite"
        process = subprocess.Popen(
            [sys.executable, "-c", TRAINER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        accepted = 0
        while accepted < 2_000 * (number + 1):
            accepted = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        accepted = max(accepted, *(int(row) for row in process.stdout.read().split()), 0)
        process.wait()
        found = read(path)
        assert found.steps >= accepted
        assert [w.number for w in found.windows] == list(range(len(found.windows)))
        assert found.run.ended_ns is None
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


DISK_FULL = """
import resource, signal, sys
from pathlib import Path
from tpudiag.monitoring.recorder import Recorder
from tpudiag.monitoring.store import Store
import tpudiag.monitoring.windows as windows
windows.WINDOW_NS = 1
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
made = Recorder(lambda: Store(Path(sys.argv[1])), "full", flush_s=0.01)
def steps(until):
    count = 0
    while not until(count):
        made.step(); count += 1
        if count % 100 == 0:
            import time; time.sleep(0.001)
    return count
total = steps(lambda n: made.stored_steps > 200)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
total += steps(lambda n: made.failure is not None)
total += steps(lambda n: n >= 10_000)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
made.close()
print(total, made.stored_steps, made.lost_steps)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit of file sizes here")
def test_a_full_disk_loses_only_what_it_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    done = ran(sys.executable, "-c", DISK_FULL, str(path))
    total, stored, lost = map(int, done.stdout.split())
    assert stored + lost == total
    assert lost > 0, "more came than is kept in memory"
    found = read(path)
    assert found.steps == stored
    assert found.run.lost_steps == lost
    assert "training goes on" in done.stderr


def test_two_processes_record_into_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    script = (
        "import sys, tpudiag\n"
        "for _ in tpudiag.track(range(500), path=sys.argv[1], name=sys.argv[2]): pass\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in "ab"]
    assert [process.wait() for process in both] == [0, 0]
    with sqlite3.connect(path) as connection:
        rows = connection.execute(
            "SELECT name, sum(steps) FROM runs JOIN windows ON run = id GROUP BY name"
        ).fetchall()
    assert rows == [("a", 500), ("b", 500)]
