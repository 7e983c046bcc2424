"""A verb called in this process: what a process of its own would say, without its start.

And a verb in a process of its own, where the process matters or a job is run.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple
from unittest.mock import patch

from tpudiag.cli import main


class Done(NamedTuple):
    """What a run of a verb came to."""

    returncode: int
    stdout: str
    stderr: str


def called(
    *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Done:
    """A verb with its arguments, in a folder, with more in its environment."""
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        with (
            redirect_stdout(out),
            redirect_stderr(err),
            chdir(cwd) if cwd else nullcontext(),
            patch.dict(os.environ, env or {}),
        ):
            try:
                code = main([*map(str, arguments)])
            except SystemExit as refused:  # argparse
                code = int(refused.code or 0)
        out.seek(0)
        err.seek(0)
        return Done(code, out.read(), err.read())


def refused(done: Done | subprocess.CompletedProcess[str]) -> str:
    """The line by which a verb refused; argparse says its usage first."""
    *before, line = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert not before or before[0].startswith("usage: "), done.stderr
    return line


def told(done: Done | subprocess.CompletedProcess[str], code: int = 0) -> dict[str, Any]:
    """The JSON that a verb wrote, which ended with this code."""
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def started(
    *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What a verb in a process of its own came to."""
    return subprocess.run(
        [sys.executable, "-m", "tpudiag", *map(str, arguments)],
        cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=800,
        check=False, env={**os.environ, **(env or {})},
    )  # fmt: skip


def reported(
    folder: Path, verb: str, *arguments: str, env: Mapping[str, str] | None = None
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """A verb in a process of its own, in a folder: its end and its JSON report ({} where none)."""
    done = started(verb, "-o", "r.json", *arguments, cwd=folder, env=env)
    report = folder / "r.json"
    return done, json.loads(report.read_text()) if report.exists() else {}
