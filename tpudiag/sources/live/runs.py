"""The run folders of captures: named by the time, inside a TensorBoard log folder."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from tpudiag.errors import UsageError


@contextmanager
def run_folder(log_dir: Path) -> Generator[Path, None, None]:
    """A new folder for one capture; it is gone again where the block left nothing in it."""
    above = log_dir / "plugins" / "profile"
    try:
        above.mkdir(parents=True, exist_ok=True)
        made = _made(above)
    except OSError as error:
        raise UsageError(f"--log-dir {log_dir}: {error.strerror or error}") from error
    try:
        yield made
    finally:
        for left in (made, above, above.parent):
            with suppress(OSError):
                left.rmdir()


def _made(above: Path) -> Path:
    """A folder that nobody else has: a later second where this one is taken."""
    when = time.time()
    while True:
        folder = above / time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(when))
        try:
            folder.mkdir()
        except FileExistsError:
            when += 1
        else:
            return folder
