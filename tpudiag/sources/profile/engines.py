"""Reads the files of a run with an engine, and reports the progress."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from functools import partial

from tpudiag.errors import UsageError
from tpudiag.phases import OnPhase, Phase
from tpudiag.sources.profile.host_summary import attempted
from tpudiag.sources.profile.locate import Run
from tpudiag.sources.profile.run_reader import Answer, Answers, HostMapper, here

MB = 1_000_000
DASK = "dask://"
AT_ONCE = 256
"""Files that a cluster is asked for at a time."""


def _of_cluster(
    engine: str, files: Sequence[str], span: str | None = None
) -> Iterator[tuple[int, Answer]]:
    """The summaries, as they come back; raises UnreadableInput where no cluster answers.

    Where all workers die and none comes back, or the scheduler dies, the files without an answer
    count as unread.
    """
    from tpudiag.sources.dask_cluster import Cluster, Lost  # asyncio takes a while to import

    cluster = Cluster(engine, engine.removeprefix(DASK))
    # The cluster is closed first, on which those that still wait for an answer give up.
    with ThreadPoolExecutor(min(len(files), AT_ONCE)) as pool, closing(cluster):
        wanted = partial(attempted, span=span)
        places = {pool.submit(cluster.ask, wanted, file): n for n, file in enumerate(files)}
        for answer in as_completed(places):
            place = places[answer]
            try:
                yield place, answer.result()
            except Lost as error:
                yield place, f"{files[place]}: {error}"


def engine(name: str) -> HostMapper:
    """The map for `local` or `dask://scheduler:8786`; raises UsageError for any other name."""
    if name == "local":
        return here
    if name.startswith(DASK) and ":" in name.removeprefix(DASK):
        return partial(_of_cluster, name)
    raise UsageError(f"--engine {name}: neither local nor {DASK}scheduler:8786")


def read(
    run: Run, mapped: HostMapper, span: str | None = None, on_phase: OnPhase = lambda _: None
) -> tuple[Answers, bool]:
    """What was read of a run's hosts, and whether Ctrl-C stopped it before the last.

    `span` is the event name that the user says marks a step.
    Raises KeyboardInterrupt where no host had been read.
    """
    answers = Answers(run.files)
    reading = _Reading(run, on_phase)
    # Byte counts exist only in this process; of remote workers only finished hosts are known.
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
    """Progress of reading a run, in megabytes over all its hosts' files."""

    def __init__(self, run: Run, on_phase: OnPhase) -> None:
        self._run, self._on_phase = run, on_phase
        self._hosts = self._whole_bytes = self._bytes = 0
        self._reported_mb = -1
        self._report()

    def moved(self, size: int) -> None:
        """Count bytes read of the current file."""
        self._bytes += size
        # Reported once per megabyte, the unit shown.
        if self._bytes // MB > self._reported_mb:
            self._report()

    def done(self, place: int) -> None:
        """Count a finished host; those read by other machines show only here."""
        self._hosts += 1
        self._whole_bytes += self._run.sizes[place]
        self._bytes = self._whole_bytes
        self._report()

    def _report(self) -> None:
        hosts = len(self._run.files)
        which = "the profile" if hosts == 1 else f"{hosts} hosts, {self._hosts} done"
        self._reported_mb = self._bytes // MB
        size = self._run.bytes
        # Below a megabyte there is no fraction to show.
        done, total = (self._reported_mb, size // MB) if size >= MB else (None, None)
        self._on_phase(Phase(f"reading {which}", done, total, "MB"))
