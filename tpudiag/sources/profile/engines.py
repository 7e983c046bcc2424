"""Reads the files of a run with an engine, and shows how far it is."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tpudiag.errors import UsageError
from tpudiag.sources.profile import locate
from tpudiag.sources.profile.dask import SCHEME, Cluster
from tpudiag.sources.profile.locate import Run
from tpudiag.sources.profile.run_reader import Answers, HostMapper, here

if TYPE_CHECKING:
    from rich.progress import Progress

BIG_BYTES = 20_000_000
"""From this size on progress is shown."""


def engine(name: str) -> HostMapper:
    """The map for `local` or `dask://scheduler:8786`; raises UsageError for another word."""
    if name == "local":
        return here
    if name.startswith(SCHEME) and ":" in name.removeprefix(SCHEME):
        return Cluster(name)
    raise UsageError(f"--engine {name}: neither local nor {SCHEME}scheduler:8786")


def read(run: Run, mapped: HostMapper, span: str | None = None) -> tuple[Answers, bool]:
    """What the hosts of a run came to, and whether Ctrl-C ended it before the last.

    `span` names what is a step, where the user says so.
    Raises KeyboardInterrupt where no host was read by then.
    """
    answers = Answers(run.files)
    with _progress(run) as shown:
        answering = (
            here(run.files, span, shown.moved) if mapped is here else mapped(run.files, span)
        )
        try:
            for place, answer in answering:
                answers.add(place, answer)
                shown.done(place)
        except KeyboardInterrupt:
            if not answers.by_place:
                raise
            return answers, True
    return answers, False


class _Shown:
    """Progress that is shown to nobody."""

    def moved(self, size: int) -> None:
        """Bytes of the file at hand are read."""

    def done(self, place: int) -> None:
        """A host is read."""


class _Bar(_Shown):
    """Progress on a terminal: hosts and bytes."""

    def __init__(self, run: Run, bar: Progress) -> None:
        self._run, self._bar = run, bar
        self._hosts = self._whole = 0
        self._task = bar.add_task(f"Reading host 1 of {len(run.files)}", total=run.bytes)

    def moved(self, size: int) -> None:
        """Bytes of the file at hand are read."""
        self._bar.update(self._task, advance=size)

    def done(self, place: int) -> None:
        """A host is read."""
        self._hosts += 1
        self._whole += self._run.sizes[place]
        name = PurePosixPath(self._run.files[place]).name.removesuffix(locate.ENDING)
        text = f"Read {name}, host {self._hosts} of {len(self._run.files)}"
        self._bar.update(self._task, completed=self._whole, description=text)


@contextmanager
def _progress(run: Run) -> Generator[_Shown, None, None]:
    """A bar on a terminal's stderr while a large run is read."""
    if run.bytes < BIG_BYTES or not sys.stderr.isatty():
        yield _Shown()
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(),
               TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(run, bar)
