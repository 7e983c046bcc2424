"""What the logs of a running job say, looked at again and again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tpudiag.known_errors.growing import GrowingLog
from tpudiag.known_errors.model import Match
from tpudiag.monitoring.follower import Watched
from tpudiag.signals import JobEnd
from tpudiag.signals.environment import JobEndKind
from tpudiag.signals.run_state import StateKind
from tpudiag.sources.live.job_log import LogFile, log_files

TRACEBACK = "Traceback (most recent call last):"


class JobLog:
    """The logs of a job's processes, each read as it grows; TPU605 judges what `end` gives."""

    def __init__(self, files: Iterable[Path] = (), pids: Iterable[int] = ()) -> None:
        self._logs: dict[Path, tuple[LogFile, GrowingLog]] = {}
        self.follow(files, pids)

    def follow(self, files: Iterable[Path] = (), pids: Iterable[int] = ()) -> None:
        """Read these too; files that are followed already go on as they are."""
        paths = (path for pid in pids for path in log_files(pid))
        for path in (*files, *paths):
            self._logs.setdefault(path, (LogFile(path), GrowingLog()))

    def look(self) -> tuple[Match, ...]:
        """The known errors that were said since the last look, best first in each log."""
        return tuple(
            match
            for file, log in self._logs.values()
            if (piece := file.new())
            for match in log.feed(piece)
        )

    def forget(self) -> None:
        """Know nothing of what was said so far: another process goes on with the job."""
        self._logs = {path: (file, GrowingLog()) for path, (file, _) in self._logs.items()}

    def end(
        self,
        how: JobEndKind = "running",
        exit_code: int | None = None,
        error: str | None = None,
    ) -> JobEnd | None:
        """What was said so far, as the signal of the job's end; None where nothing was.

        An error that is known by its last line is given as its whole traceback, where it is here.
        """
        told = "\n".join(log.telling for _, log in self._logs.values())
        if not told.strip() and error is None:
            return None
        return JobEnd(how=how, exit_code=exit_code, error=_whole(error, told), log_tail=told)


class WorkerLogs:
    """The logs of a job's workers on this host; files that were named are the first worker's."""

    def __init__(self, files: Iterable[Path] = ()) -> None:
        self._files = tuple(files)
        self._logs: dict[int, tuple[int, JobLog]] = {}

    def end(self, place: int, watched: Watched) -> JobEnd | None:
        """What a worker has said since its process began, and how it stands."""
        run = watched.run
        pid, log = self._logs.get(place, (run.pid, None))
        if log is None:
            log = JobLog(self._files if place == 0 else ())
        if pid != run.pid:
            log.forget()
        self._logs[place] = run.pid, log
        # Each time: a process may open its log late, or turn to another file at midnight.
        log.follow(pids=[run.pid] if watched.lives_here else ())
        log.look()
        return log.end(_how(watched), run.exit_code, run.failure)


def _how(watched: Watched) -> JobEndKind:
    """How a worker's run stands."""
    ends: dict[StateKind, JobEndKind] = {
        StateKind.FAILED: "exception",
        StateKind.EXITED: "exit",
        StateKind.COMPLETED: "finished",
        StateKind.KILLED: "signal",
    }
    return ends.get(watched.state.kind, "running")


def _whole(error: str | None, told: str) -> str | None:
    """The traceback that an error ended, from a log in which it is the last; or its one line."""
    last = told.rfind(TRACEBACK)
    if error is None or last < 0:
        return error
    # By the error's own kind: the last traceback in a log may be of one that the job had survived.
    kind = error.partition(":")[0].strip()
    return told[last:] if kind and kind in told[last:] else error
