"""Refuses all writes if nothing can isolate them; the job gets an error at the first one.

Python's and TensorFlow's own calls are refused before they change anything, and so is starting
other programs, whose writes are unknown.
"""

import errno
import os
import sys

from tpudiag.sources.job.held_back.layer import Layer, inside
from tpudiag.sources.job.points import Args, barrier

REFUSED = "nothing here holds back what a rehearsal writes: --in-place lets it write"
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork")
_CHANGES = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink"),
    *("os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr", "os.mkfifo", "os.mknod"),
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class NoWrites(Layer):
    """A layer that redirects remote paths and refuses local writes."""

    def written(self, path: object, at: int | None = None) -> str:
        """The absolute path of what is to be changed, where that is remote."""
        whole = self.whole(path, at)
        if whole and "://" not in whole:
            raise refusal(whole)
        return whole

    def watch(self) -> None:
        """Refuse Python's own writes by an audit hook, which cannot be removed."""
        sys.addaudithook(self._heard)

    def _heard(self, event: str, args: Args) -> None:
        if getattr(inside, "now", False):
            return
        if event in _STARTS:
            raise refusal("another program")
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITES:
                self.written(path)
        elif event in _CHANGES:
            for path in args[:2]:
                self.written(path)
        elif event == "sqlite3.connect":
            self.written(args[0])


def refusal(what: str) -> Exception:
    """The error to raise, marked as the rehearsal's own."""
    return barrier.for_job(PermissionError(errno.EACCES, REFUSED, what))
