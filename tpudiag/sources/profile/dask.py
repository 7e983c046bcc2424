"""The summaries of a run's files, made by the workers of a Dask cluster.

The same map as in this process. Each worker opens the files by the names given here: they lie
on storage that all share, or behind a URL.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from functools import partial

from tpudiag.sources.dask_cluster import Cluster, Lost
from tpudiag.sources.profile.host_summary import attempted
from tpudiag.sources.profile.run_reader import Answer

SCHEME = "dask://"
AT_ONCE = 256
"""Files that are asked for at a time."""


def read(
    engine: str, files: Sequence[str], span: str | None = None
) -> Iterator[tuple[int, Answer]]:
    """The summaries, as they come back; raises UnreadableInput where no cluster answers.

    Where all workers die and none comes back, or the scheduler dies, the files without an answer
    count as unread.
    """
    cluster = Cluster(engine, engine.removeprefix(SCHEME))
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
