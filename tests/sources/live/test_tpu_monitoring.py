"""The answers of libtpu's monitoring library for a process with that libtpu loaded.

The library is a package of the same names that says what its documentation gives as examples.
"""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests import made
from tpudiag.sources.live.tpu_monitoring import ChipScore, scores

HOLDS = """
import mmap, sys
with open(sys.argv[1], "rb") as library:
    kept = mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ)
print("loaded", flush=True)
sys.stdin.read()
"""
MONITORING = """
DATA = {
    "tpu_throttle_score": ["0-0", "1-3", "strange", "2-400"],
    "ici_link_health": ["tray1.chip3.ici0.int: 0", "tray1.chip3.ici1.int: 10"],
}
class Metric:
    def __init__(self, name): self.name = name
    def data(self): return DATA[self.name]
def get_metric(name): return Metric(name)
print("WARNING: Logging before InitGoogle() is written to STDERR")
"""


@contextmanager
def trainer(packages: Path) -> Generator[int]:
    """The id of a process that has a libtpu loaded."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(packages / "libtpu" / "libtpu.so")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.communicate(b"")


def installed(folder: Path, monitoring: str, version: str = "0.0.52") -> Path:
    """A folder of packages with a libtpu."""
    package = folder / "libtpu"
    (package / "sdk").mkdir(parents=True)
    made.distribution(folder, "libtpu", version)
    (package / "__init__.py").touch()
    (package / "libtpu.so").write_bytes(b"\0" * 4096)
    (package / "sdk" / "tpumonitoring.py").write_text(monitoring, encoding="utf-8")
    return folder


def test_our_library_is_asked_and_nothing_of_the_trainers_is_run(tmp_path: Path) -> None:
    harm = f"open({str(tmp_path / 'harm')!r}, 'w').close()\n"
    theirs = installed(tmp_path / "theirs", harm + MONITORING)
    (theirs / "libtpu" / "__init__.py").write_text(harm, encoding="utf-8")
    own = installed(tmp_path / "own", MONITORING)
    with trainer(theirs) as pid:
        assert scores(pid, own) == (
            ChipScore("throttling", "0", 0),
            ChipScore("throttling", "1", 3),
            ChipScore("ICI link", "tray1.chip3.ici0.int", 0),
            ChipScore("ICI link", "tray1.chip3.ici1.int", 10),
        )
    assert not (tmp_path / "harm").exists()


def test_another_release_of_libtpu_knows_nothing_of_the_trainers_runtime(tmp_path: Path) -> None:
    own = installed(tmp_path / "own", MONITORING, "0.0.51")
    with trainer(installed(tmp_path / "theirs", MONITORING)) as pid:
        assert scores(pid, own) == ()


def test_without_such_a_library_nothing_is_known(tmp_path: Path) -> None:
    assert scores(os.getpid()) == (), "this process holds no TPU"
    broken = installed(tmp_path / "broken", "raise OSError('no TPU')")
    with trainer(broken) as pid:
        assert scores(pid, broken) == ()
