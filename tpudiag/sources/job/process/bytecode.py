"""Compiles the job's side before a job starts whose writes are discarded.

The job would otherwise compile it each time, which takes over a second.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tpudiag.sources.job.process.job_python import JobPython

PACKAGE = Path(__file__).resolve().parents[3]
ROOMS = ("sources/job", "signals")
"""The job's side, beside the modules at the top of the package."""
LIMIT_S = 60.0


def made(python: JobPython) -> None:
    """Compile what is missing or outdated, where it can be written."""
    if os.environ.get("PYTHONDONTWRITEBYTECODE") or not os.access(PACKAGE, os.W_OK):
        return
    tag = "cpython-" + "".join(python.release.split(".")[:2])
    stale = [str(source) for source in _sources() if _is_stale(source, tag)]
    if stale:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [python.path, "-I", "-m", "compileall", "-q", *stale],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=LIMIT_S,
                check=False,
            )


def _sources() -> Iterator[Path]:
    yield from PACKAGE.glob("*.py")
    for room in ROOMS:
        yield from (PACKAGE / room).rglob("*.py")


def _is_stale(source: Path, tag: str) -> bool:
    """Whether a source's bytecode is missing or outdated."""
    made_of = source.parent / "__pycache__" / f"{source.stem}.{tag}.pyc"
    try:
        return made_of.stat().st_mtime < source.stat().st_mtime
    except OSError:
        return True
