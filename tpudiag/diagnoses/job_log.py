"""The logs of a running job, read periodically for known errors."""

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
_ENDS: dict[StateKind, JobEndKind] = {
    StateKind.FAILED: "exception",
    StateKind.EXITED: "exit",
    StateKind.COMPLETED: "finished",
    StateKind.KILLED: "signal",
}


class JobLog:
    """The logs of a job's processes, each read as it grows; TPU605 judges `end`."""

    def __init__(self, files: Iterable[Path] = (), pids: Iterable[int] = ()) -> None:
        self._logs: dict[Path, tuple[LogFile, GrowingLog]] = {}
        self.follow(files, pids)

    def follow(self, files: Iterable[Path] = (), pids: Iterable[int] = ()) -> None:
        """Read these, too; files already followed continue."""
        paths = (path for pid in pids for path in log_files(pid))
        for path in (*files, *paths):
            self._logs.setdefault(path, (LogFile(path), GrowingLog()))

    def look(self) -> tuple[Match, ...]:
        """The known errors logged since the last poll, best first in each log."""
        return tuple(
            match
            for file, log in self._logs.values()
            if (piece := file.new())
            for match in log.feed(piece)
        )

    def forget(self) -> None:
        """Forget the logs so far: another process continues the job."""
        self._logs = {path: (file, GrowingLog()) for path, (file, _) in self._logs.items()}

    def end(
        self, how: JobEndKind = "running", exit_code: int | None = None, error: str | None = None
    ) -> JobEnd | None:
        """The log so far as the signal of the job's end; None where it is empty.

        An error known by its last line is given with its traceback, where that is in the log.
        """
        text = "\n".join(log.telling for _, log in self._logs.values())
        if not text.strip() and error is None:
            return None
        return JobEnd(how=how, exit_code=exit_code, error=_whole(error, text), log_tail=text)


class WorkerLogs:
    """The logs of a job's workers on this host; named files are the first worker's."""

    def __init__(self, files: Iterable[Path] = ()) -> None:
        self._files = tuple(files)
        self._logs: dict[int, tuple[int, JobLog]] = {}

    def end(self, place: int, watched: Watched) -> JobEnd | None:
        """A worker's log since its process began, and its state."""
        run = watched.run
        pid, log = self._logs.get(place, (run.pid, None))
        if log is None:
            log = JobLog(self._files if place == 0 else ())
        if pid != run.pid:
            log.forget()
        self._logs[place] = run.pid, log
        # Each time: a process may open its log late, or rotate it.
        log.follow(pids=[run.pid] if watched.lives_here else ())
        log.look()
        return log.end(_ENDS.get(watched.state.kind, "running"), run.exit_code, run.failure)


def _whole(error: str | None, log_text: str) -> str | None:
    """The error's traceback, if it is the last one in the log; otherwise its one line."""
    last = log_text.rfind(TRACEBACK)
    if error is None or last < 0:
        return error
    # By the error's type: the log's last traceback may be of an error that the job survived.
    kind = error.partition(":")[0].strip()
    return log_text[last:] if kind and kind in log_text[last:] else error
