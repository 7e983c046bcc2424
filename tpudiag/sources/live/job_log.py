"""The end of the log that a running process writes: its standard error or output, in a file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tpudiag.sources.live.sockets import PROC

END_BYTES = 1 << 18
_STANDARD_ERROR, _STANDARD_OUTPUT = 2, 1


def log_end(pid: int, proc: Path = PROC) -> str:
    """The last of what a process said; empty where it does not write to a readable file."""
    ends: dict[tuple[int, int], str] = {}
    for descriptor in (_STANDARD_OUTPUT, _STANDARD_ERROR):
        path = proc / str(pid) / "fd" / str(descriptor)
        try:
            about = path.stat()
            if stat.S_ISREG(about.st_mode):
                ends[about.st_dev, about.st_ino] = _end(path, about.st_size)
        except OSError:
            continue
    return "\n".join(ends.values())


def _end(path: Path, size: int) -> str:
    """The last bytes of a file, as text."""
    with path.open("rb") as stream:
        stream.seek(max(0, size - END_BYTES), os.SEEK_SET)
        return stream.read(END_BYTES).decode(errors="replace")
