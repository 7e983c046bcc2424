"""What the logs of a running job say, looked at again and again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tpudiag.known_errors.growing import GrowingLog
from tpudiag.known_errors.model import Match
from tpudiag.signals import JobEnd
from tpudiag.signals.environment import JobEndKind
from tpudiag.sources.live.job_log import LogFile, log_files


class JobLog:
    """The logs of a job's processes, each read as it grows; TPU605 judges what `end` gives."""

    def __init__(self, files: Iterable[Path] = (), pids: Iterable[int] = ()) -> None:
        self._logs: dict[Path, tuple[LogFile, GrowingLog]] = {}
        self.follow(files, pids)

    def follow(self, files: Iterable[Path] = (), pids: Iterable[int] = ()) -> None:
        """Read these too; files that are followed already go on as they are."""
        of_pids = (path for pid in pids for path in log_files(pid))
        for path in (*files, *of_pids):
            self._logs.setdefault(path, (LogFile(path), GrowingLog()))

    def look(self) -> tuple[Match, ...]:
        """The known errors that were said since the last look, best first in each log."""
        return tuple(
            match
            for file, log in self._logs.values()
            if (piece := file.new())
            for match in log.feed(piece)
        )

    def end(self, how: JobEndKind = "running", exit_code: int | None = None) -> JobEnd | None:
        """What was said so far, as the signal of the job's end; None where nothing was."""
        tail = "\n".join(log.telling for _, log in self._logs.values())
        return JobEnd(how=how, exit_code=exit_code, log_tail=tail) if tail.strip() else None
