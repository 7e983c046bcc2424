"""Reads the files of a run with an engine, and says how far it is."""

from tpudiag.errors import UsageError
from tpudiag.phases import OnPhase, Phase
from tpudiag.sources.profile.locate import Run
from tpudiag.sources.profile.run_reader import Answers, HostMapper, here

MB = 1_000_000
DASK = "dask://"


def engine(name: str) -> HostMapper:
    """The map for `local` or `dask://scheduler:8786`; raises UsageError for another word."""
    if name == "local":
        return here
    if name.startswith(DASK) and ":" in name.removeprefix(DASK):
        from tpudiag.sources.profile.dask import Cluster

        return Cluster(name)
    raise UsageError(f"--engine {name}: neither local nor {DASK}scheduler:8786")


def read(
    run: Run, mapped: HostMapper, span: str | None = None, on_phase: OnPhase = lambda _: None
) -> tuple[Answers, bool]:
    """What the hosts of a run came to, and whether Ctrl-C ended it before the last.

    `span` names what is a step, where the user says so.
    Raises KeyboardInterrupt where no host was read by then.
    """
    answers = Answers(run.files)
    reading = _Reading(run, on_phase)
    # Only this process can tell of bytes as they go; of other machines a host is done or not.
    answering = here(run.files, span, reading.moved) if mapped is here else mapped(run.files, span)
    try:
        for place, answer in answering:
            answers.add(place, answer)
            reading.done(place)
    except KeyboardInterrupt:
        if not answers.by_place:
            raise
        return answers, True
    return answers, False


class _Reading:
    """How far the reading of a run is, by megabytes of all its hosts' files."""

    def __init__(self, run: Run, on_phase: OnPhase) -> None:
        self._run, self._on_phase = run, on_phase
        self._hosts = self._whole_bytes = self._bytes = 0
        self._told_mb = -1
        self._tell()

    def moved(self, size: int) -> None:
        """Bytes of the file at hand are read."""
        self._bytes += size
        # Once for each megabyte, which is all that is shown.
        if self._bytes // MB > self._told_mb:
            self._tell()

    def done(self, place: int) -> None:
        """A host is read; one that other machines read shows only now."""
        self._hosts += 1
        self._whole_bytes += self._run.sizes[place]
        self._bytes = self._whole_bytes
        self._tell()

    def _tell(self) -> None:
        """Say it."""
        hosts = len(self._run.files)
        which = "the profile" if hosts == 1 else f"{hosts} hosts, {self._hosts} done"
        self._told_mb = self._bytes // MB
        size = self._run.bytes
        # Of less than a megabyte there is no part to tell.
        done, total = (self._told_mb, size // MB) if size >= MB else (None, None)
        self._on_phase(Phase(f"reading {which}", done, total, "MB"))
