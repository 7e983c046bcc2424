"""The log that a running process writes: its standard error or output, in a file."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from tpudiag.sources.live.processes import owner
from tpudiag.sources.live.sockets import PROC

END_BYTES = 1 << 18
AT_ONCE_BYTES = 1 << 24
"""At most so much of a log is read at one poll; the rest waits for the next."""
_STANDARD_ERROR, _STANDARD_OUTPUT = 2, 1


def log_end(pid: int, proc: Path = PROC) -> str:
    """The end of a process's output; empty where that is no readable file."""
    ends = (LogFile(path).new().decode(errors="replace") for path in log_files(pid, proc))
    return "\n".join(filter(None, ends))


def log_files(pid: int, proc: Path = PROC) -> tuple[Path, ...]:
    """The regular files that a process's standard output and error go to, each once.

    None of a stranger's process: it may name any of our files as its log.
    """
    if owner(pid, proc) != os.geteuid():
        return ()
    found: dict[tuple[int, int], Path] = {}
    for descriptor in (_STANDARD_OUTPUT, _STANDARD_ERROR):
        path = proc / str(pid) / "fd" / str(descriptor)
        with suppress(OSError):
            about = path.stat()
            # Reading a terminal or pipe would take the output from its reader.
            if stat.S_ISREG(about.st_mode):
                # A deleted log is still open: it can be read by its descriptor in /proc.
                found[about.st_dev, about.st_ino] = path
                if path.resolve(strict=True).samefile(path):
                    found[about.st_dev, about.st_ino] = path.resolve()
    return tuple(found.values())


class LogFile:
    """A log that is read as it grows, from its end at the first poll.

    A log that is gone or unreadable has no news; one that was truncated or replaced is read from
    its beginning.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: tuple[int, int] | None = None
        self._position = 0

    def new(self) -> bytes:
        """What was written since the last poll; at first the end of the file."""
        with suppress(OSError), self.path.open("rb") as stream:
            stream.seek(self._begin(os.fstat(stream.fileno())))
            piece = stream.read(AT_ONCE_BYTES)
            self._position = stream.tell()
            return piece
        return b""

    def _begin(self, about: os.stat_result) -> int:
        known, self._file = self._file, (about.st_dev, about.st_ino)
        if known is None:
            return max(0, about.st_size - END_BYTES)
        # By device and inode: a rotated log has its old name and is another file.
        return self._position if known == self._file and about.st_size >= self._position else 0
