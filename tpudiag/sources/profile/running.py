"""Reads the files of a run with an engine, and shows how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import PurePosixPath

from tpudiag.errors import UsageError
from tpudiag.sources.profile import locate
from tpudiag.sources.profile.dask import SCHEME, Cluster
from tpudiag.sources.profile.locate import Run
from tpudiag.sources.profile.reading import Answers, Mapped, here

BIG_BYTES = 20_000_000
"""From this size on progress is shown."""


def engine(name: str) -> Mapped:
    """The map for `local` or `dask://scheduler:8786`; raises UsageError for another word."""
    if name == "local":
        return here
    if name.startswith(SCHEME) and ":" in name.removeprefix(SCHEME):
        return Cluster(name)
    raise UsageError(f"--engine {name}: neither local nor {SCHEME}scheduler:8786")


def read(run: Run, mapped: Mapped) -> tuple[Answers, bool]:
    """What the hosts of a run came to, and whether Ctrl-C ended it before the last.

    Raises KeyboardInterrupt where no host was read by then.
    """
    answers = Answers(run.files)
    with _progress(run) as done:
        try:
            for place, answer in mapped(run.files):
                answers.by_place[place] = answer
                done(place)
        except KeyboardInterrupt:
            if not answers.by_place:
                raise
            return answers, True
    return answers, False


@contextmanager
def _progress(run: Run) -> Generator[Callable[[int], None], None, None]:
    """A bar on a terminal's stderr while a large run is read: hosts and bytes."""
    if run.bytes < BIG_BYTES or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(),
               TimeRemainingColumn())  # fmt: skip
    count = len(run.files)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"Reading host 1 of {count}", total=run.bytes)
        hosts = 0

        def done(place: int) -> None:
            nonlocal hosts
            hosts += 1
            name = PurePosixPath(run.files[place]).name.removesuffix(locate.ENDING)
            text = f"Read {name}, host {hosts} of {count}"
            progress.update(task, advance=run.sizes[place], description=text)

        yield done
