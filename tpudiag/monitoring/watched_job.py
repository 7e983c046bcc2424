"""A followed job: all its workers, in all its named places."""

from collections.abc import Sequence

from tpudiag.errors import UnreadableInput
from tpudiag.monitoring.clocks import Clock
from tpudiag.monitoring.detector import Reference
from tpudiag.monitoring.follower import Watched
from tpudiag.monitoring.jobs import Job, jobs, name_workers, rank
from tpudiag.monitoring.run_sources import Place, Source


class WatchedJob:
    """The workers in its places; later ones are added."""

    def __init__(
        self, paths: Sequence[str], clock: Clock | None = None, expect: Reference | None = None
    ) -> None:
        self._places = [Place(path, len(paths)) for path in paths]
        self._looked_up: frozenset[str] = frozenset()
        self._clock, self._expect = clock or Clock(), expect
        self._followed: dict[Source, Watched] = {}
        self._of_place: dict[str, list[Watched]] = {}
        self.unread: dict[str, str] = {}
        """Places that held runs and cannot be read now, and why: what was read stays."""
        self.workers: list[Watched] = []
        self.jobs: tuple[Job, ...] = ()

    def follow(self, before: Sequence[str], now: Sequence[str]) -> None:
        """Continue with workers whose addresses were looked up again: they may have changed."""
        gone, known = {*before} - {*now}, {place.path for place in self._places}
        self._places = [place for place in self._places if place.path not in gone]
        self._places += [Place(path) for path in now if path not in known]
        self._looked_up = frozenset(now)

    def poll(self) -> bool:
        """Read news; whether there is a run. Raises UnreadableInput."""
        workers: list[Watched] = []
        for place in self._places:
            before = self._of_place.get(place.path, [])
            try:
                sources = place.sources()
                for source in sources:
                    if source not in self._followed:
                        self._followed[source] = Watched(source, self._clock, self._expect)
                now = [self._followed[source] for source in sources]
                now = [watched for watched in now if watched.poll()]
            except UnreadableInput as error:
                if not before and place.path in self._looked_up:
                    continue  # it has only begun to run
                if not before:
                    raise
                now, self.unread[place.path] = before, str(error)
            else:
                self.unread.pop(place.path, None)
                if before and not now:
                    now, self.unread[place.path] = before, f"{place.path}: the recording is gone"
            self._of_place[place.path] = now
            workers += now
        self.workers, self.jobs = workers, jobs(workers)
        name_workers(self.jobs)
        return bool(workers)

    @property
    def empty(self) -> list[str]:
        """The places without a recording."""
        return [place.path for place in self._places if not self._of_place.get(place.path)]

    @property
    def not_judged(self) -> int:
        """Workers of earlier jobs in the same places."""
        return sum(place.not_judged for place in self._places)

    @property
    def slowest(self) -> Watched:
        """The worker that the job waits for: one that is gone or silent, or the slowest."""
        return min(self.workers, key=rank)

    def done(self, idle_s: float | None) -> bool:
        """Whether no news will come from any of them."""
        return all(watched.done(idle_s) for watched in self.workers)
