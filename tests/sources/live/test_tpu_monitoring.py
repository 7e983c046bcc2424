"""What a libtpu's monitoring library says, asked of a process that has that libtpu loaded.

The library is a package of the same names that says what its documentation gives as examples.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

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
def trainer(folder: Path, monitoring: str | None) -> Generator[int]:
    """The id of a process that has a libtpu loaded, with or without a monitoring library."""
    package = folder / "site-packages" / "libtpu"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "libtpu.so").write_bytes(b"\0" * 4096)
    if monitoring is not None:
        (package / "sdk").mkdir()
        (package / "sdk" / "tpumonitoring.py").write_text(monitoring, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(package / "libtpu.so")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.communicate(b"")


def test_the_trainers_own_library_is_asked(tmp_path: Path) -> None:
    with trainer(tmp_path, MONITORING) as pid:
        assert scores(pid) == (
            ChipScore("throttling", "0", 0),
            ChipScore("throttling", "1", 3),
            ChipScore("ICI link", "tray1.chip3.ici0.int", 0),
            ChipScore("ICI link", "tray1.chip3.ici1.int", 10),
        )


def test_without_such_a_library_nothing_is_known(tmp_path: Path) -> None:
    assert scores(os.getpid()) == (), "this process holds no TPU"
    with trainer(tmp_path / "old", None) as pid:
        assert scores(pid) == (), "a libtpu of before it had the library"
    with trainer(tmp_path / "broken", "raise OSError('no TPU')") as pid:
        assert scores(pid) == ()
