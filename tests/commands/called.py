"""A verb called in this process: what a process of its own would say, without its start."""

import os
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple
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
            chdir(cwd or Path.cwd()),
            patch.dict(os.environ, env or {}),
        ):
            try:
                code = main([*map(str, arguments)])
            except SystemExit as refused:  # argparse
                code = int(refused.code or 0)
        out.seek(0)
        err.seek(0)
        return Done(code, out.read(), err.read())
