"""Finds profiles: in a TensorBoard log folder, in a run folder, or as a bare *.xplane.pb."""

import os
import re
from collections import defaultdict
from collections.abc import Container, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from tpudiag.errors import UnreadableInput, line_of
from tpudiag.records import dataclass

EXPORT = ".trace.json"
"""Written beside a profile for the trace viewer only."""
ENDING = ".xplane.pb"
NAMED_BY_TIME = re.compile(r"\d{4}(_\d\d){5}")


@dataclass(frozen=True)
class Run:
    """One profiling session: the XSpaces of its hosts, by file name."""

    name: str
    """The run folder's name, with parent folders where they distinguish runs."""
    folder: str
    files: tuple[str, ...]
    sizes: tuple[int, ...]
    """Bytes of each file."""
    when: float
    """Seconds since the epoch: from the folder's name, else the newest file's time."""

    @property
    def bytes(self) -> int:
        """The total size of all files."""
        return sum(self.sizes)

    @property
    def log_dir(self) -> str | None:
        """The folder to open in TensorBoard and XProf; None for a file outside one."""
        path = Path(self.folder)
        if path.parent.name == "profile" and path.parent.parent.name == "plugins":
            above = str(path.parent.parent.parent)
            return above.replace(":/", "://", 1) if is_url(self.folder) else above
        return None


def is_url(path: str) -> bool:
    """Whether fsspec has to fetch it: gs://bucket/logs, not a local path."""
    return "://" in path


def runs(path: str) -> tuple[Run, ...]:
    """The runs at a path, newest first; raises UnreadableInput where there is none."""
    if not path:
        raise UnreadableInput("the path is empty: name a log folder or a profile")
    known = _remote(path) if is_url(path) else _local(path)
    if not known:
        traces = not is_url(path) and next(Path(path).expanduser().rglob(f"*{EXPORT}*"), None)
        more = f"; {traces.name} is an export of one, without its figures" if traces else ""
        raise UnreadableInput(
            f"{path}: no profile in this folder (looked for *{ENDING} in it and below it{more})"
        )
    return tuple(sorted(known, key=lambda run: (run.when, run.name), reverse=True))


def choose(runs_: Sequence[Run], path: str, name: str | None) -> Run:
    """The newest run, or the one called `name`; raises UnreadableInput where there is none."""
    if name is None:
        return runs_[0]
    named = [run for run in runs_ if name in (run.name, PurePosixPath(run.name).name)]
    if len(named) == 1:
        return named[0]
    known = ", ".join(run.name for run in (named or runs_)[:10])
    fault = "several runs of this name" if named else "no run of this name"
    raise UnreadableInput(f"{path}: --run {name}: {fault}; there are {known}")


@contextmanager
def local(file: str) -> Generator[Path, None, None]:
    """One file on this machine; a remote one is copied for the time of the block."""
    if not is_url(file):
        yield Path(file)
        return
    from tpudiag import scratch

    with scratch.folder("fetched") as folder:
        copy = folder / PurePosixPath(file).name
        try:
            _filesystem(file).get_file(file, str(copy))
        except Exception as error:
            raise UnreadableInput(f"{file}: {line_of(error)}") from error
        yield copy


@contextmanager
def fetched(run: Run) -> Generator[tuple[Path, ...], None, None]:
    """The run's files on this machine; remote ones are copied for the time of the block."""
    with ExitStack() as stack:
        yield tuple(stack.enter_context(local(file)) for file in run.files)


def _local(path: str) -> list[Run]:
    try:
        place = Path(path).expanduser()
        if place.is_file():
            return [_run(place.parent, [place], place.name)]
        if not place.is_dir():
            raise UnreadableInput(
                f"{path}: {'not a file or folder' if place.exists() else 'does not exist'}"
            )
        return [_run(folder, files, _name(folder, place)) for folder, files in _folders(place)]
    except (OSError, RuntimeError) as error:  # RuntimeError: no home for ~nobody
        reason = error.strerror if isinstance(error, OSError) else None
        raise UnreadableInput(f"{path}: {reason or line_of(error)}") from error


def _folders(top: Path) -> Iterator[tuple[Path, list[Path]]]:
    """The folders with profiles at or below one, following links; each folder once."""
    seen: set[str] = set()
    for name, below, entries in os.walk(top, followlinks=True):
        folder, real = Path(name), os.path.realpath(name)
        if real in seen:
            below.clear()
            continue
        seen.add(real)
        # Real folders before links: a folder reached both ways goes by its own name.
        below[:] = [e for _, e in sorted(((folder / e).is_symlink(), e) for e in below)]
        names = {*entries, *below}
        profiles = [folder / name for name in sorted(names) if _is_profile(name, names)]
        if profiles:
            yield folder, profiles


def _is_profile(name: str, others: Container[str]) -> bool:
    """Whether a file is a host's profile; a compressed one counts, to be reported unread."""
    plain = name.removesuffix(".gz")
    return plain.endswith(ENDING) and (plain == name or plain not in others)


def _run(folder: Path, files: Sequence[Path], name: str) -> Run:
    """A run of local files; one that is gone (a dangling link) has no size and no time."""
    stats = [file.stat() if file.exists() else None for file in files]
    return Run(
        name,
        str(folder.resolve()),
        tuple(str(file) for file in files),
        tuple(stat.st_size if stat else 0 for stat in stats),
        _when(folder.name, max(stat.st_mtime if stat else 0.0 for stat in stats)),
    )


def _remote(path: str) -> list[Run]:
    try:
        filesystem = _filesystem(path)
        if filesystem.isfile(path):
            sizes = {filesystem.unstrip_protocol(path): filesystem.info(path)}
        else:
            entries: dict[str, Any] = filesystem.find(path, detail=True)
            sizes = {
                filesystem.unstrip_protocol(k): v
                for k, v in entries.items()
                if _is_profile(k, entries)
            }
            if not sizes and not filesystem.exists(path):
                raise UnreadableInput(f"{path}: does not exist")
    except UnreadableInput:
        raise
    except FileNotFoundError as error:
        raise UnreadableInput(f"{path}: does not exist") from error
    except Exception as error:
        raise UnreadableInput(f"{path}: {line_of(error)}") from error
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(sizes):
        folders[file.rpartition("/")[0]].append(file)
    return [
        Run(
            _name(PurePosixPath(folder), PurePosixPath(path)),
            folder,
            tuple(files),
            tuple(int(sizes[file].get("size") or 0) for file in files),
            _when(folder.rpartition("/")[2], 0.0),
        )
        for folder, files in folders.items()
    ]


def _filesystem(path: str) -> Any:
    """The fsspec file system for a URL; raises what fsspec raises (unknown protocol, no gcsfs)."""
    import logging

    logging.getLogger("gcsfs").setLevel(logging.CRITICAL)  # it warns while it guesses bucket types
    return import_module("fsspec.core").url_to_fs(path)[0]


def _name(folder: Path | PurePosixPath, top: Path | PurePosixPath) -> str:
    """A run's name: `2025_05_01_00_00_00`, or `train/2025_05_01_00_00_00` below sub-folders."""
    parts = folder.relative_to(top).parts if folder.is_relative_to(top) else ()
    above = parts[:-1]
    return "/".join([*(p for p in above if p not in ("plugins", "profile")), folder.name])


def _when(name: str, otherwise: float) -> float:
    # The name comes first: copying a run gives its files the time of the copy.
    if NAMED_BY_TIME.fullmatch(name):
        with suppress(ValueError):
            return datetime.strptime(name, "%Y_%m_%d_%H_%M_%S").astimezone().timestamp()
    return otherwise
