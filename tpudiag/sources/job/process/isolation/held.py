"""What a job wrote and removed: read from its layers, and kept on request."""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tpudiag.script_run import Isolation, Writes
from tpudiag.sources.job.process.isolation.layers import Layer

_CHECKPOINTS = (".index", ".keras", ".h5", "/saved_model.pb")
"""Endings of one file of each checkpoint or saved model."""
_OF_ATTRIBUTES = ("trusted.overlay.", "user.overlay.")
MOST_NAMES = 50
REMOVED = "removed.txt"
"""The list of removed files beside the kept ones."""


@dataclass(frozen=True)
class Change:
    """A file that was written, or a renamed folder, by its path as the job sees it."""

    path: str
    removed: bool = False


def changes(layers: Iterable[Layer]) -> tuple[Change, ...]:
    """Everything in the layers."""
    return tuple(change for layer in layers for change in _of_layer(layer))


def writes(
    isolation: Isolation, seen: Sequence[Change], read_only: Sequence[str], kept: str
) -> Writes:
    """The changes in figures."""
    written = [change.path for change in seen if not change.removed]
    return Writes(
        isolation=isolation,
        kept=kept or None,
        written=len(written),
        checkpoints=sum(path.endswith(_CHECKPOINTS) for path in written),
        removed=len(seen) - len(written),
        names=tuple(sorted(change.path for change in seen)[:MOST_NAMES]),
        read_only=tuple(read_only),
    )


def keep(seen: Sequence[Change], root: str, led: str, folder: str, working: str) -> None:
    """Copy what was written: the working folder's by relative paths, the rest by absolute ones.

    `root`: where it is found; `led`: the folder of redirected files.
    """
    beside = f"{folder}.part"
    shutil.rmtree(beside, ignore_errors=True)
    os.makedirs(beside)
    for change in seen:
        if not change.removed:
            _copy(root + change.path, f"{beside}/{_name(change.path, working)}")
    for name in os.listdir(led):
        if name.endswith("__"):
            shutil.copytree(f"{led}/{name}", f"{beside}/{name}", symlinks=True)
    removed = sorted(change.path for change in seen if change.removed)
    if removed:
        with open(f"{beside}/{REMOVED}", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(f"{_name(path, working)}\n" for path in removed)
    os.rename(beside, folder)


def redirected(folder: str) -> tuple[Change, ...]:
    """Local files whose calls were redirected to a folder."""
    found: list[Change] = []
    for at, names, files in os.walk(folder):
        if at == folder:
            names[:] = [name for name in names if not name.endswith("__")]  # buckets
        found += [Change(f"{at}/{name}"[len(folder) :]) for name in files]
    return tuple(found)


def _copy(source: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with suppress(OSError, shutil.Error):
        if os.path.isdir(source) and not os.path.islink(source):
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target, follow_symlinks=False)


def _name(path: str, working: str) -> str:
    start = working.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else path.lstrip("/")


def _of_layer(layer: Layer) -> Iterator[Change]:
    gone: list[Change] = []
    moved: set[str] = set()
    for folder, names, files in os.walk(layer.upper):
        path = layer.path.rstrip("/") + folder[len(layer.upper) :]
        for name in list(names):
            whole, there = f"{folder}/{name}", f"{path}/{name}"
            before = _mark(whole, "redirect")
            if os.path.ismount(whole):
                names.remove(name)  # mounted there by us
            elif before:
                yield Change(there)
                start = layer.path if before.startswith("/") else path
                moved.add(f"{start.rstrip('/')}/{before.lstrip('/')}")
            elif _mark(whole, "opaque") == "y":
                gone += _gone(there, whole)
        for name in files:
            change = _of_file(layer, f"{folder}/{name}", f"{path}/{name}")
            if change is not None and change.removed:
                gone += _gone(change.path, None)
            elif change is not None:
                yield change
    if layer.is_copy:
        gone += [
            Change(entry.path, removed=True)
            for entry in os.scandir(layer.path)
            if entry.is_file() and not os.path.lexists(f"{layer.upper}/{entry.name}")
        ]
    yield from (c for c in gone if not any(f"{c.path}/".startswith(f"{m}/") for m in moved))


def _of_file(layer: Layer, upper: str, path: str) -> Change | None:
    now = os.lstat(upper)
    # How an overlay marks a removed lower file.
    if stat.S_ISCHR(now.st_mode) and now.st_rdev == 0:
        return Change(path, removed=True)
    with suppress(OSError):
        before = os.lstat(path)
        if layer.is_copy and (before.st_mtime_ns, before.st_size) == (now.st_mtime_ns, now.st_size):
            return None
        if layer.is_copy and os.path.ismount(upper):
            return None
    return Change(path)


def _gone(path: str, upper: str | None) -> Iterator[Change]:
    """Lower files that are gone for the job; `upper`: their replacement."""
    if not os.path.isdir(path) or os.path.islink(path):
        yield Change(path, removed=True)
        return
    for folder, _, files in os.walk(path):
        for name in files:
            inside = f"{folder}/{name}"[len(path) :]
            if upper is None or not os.path.lexists(upper + inside):
                yield Change(path + inside, removed=True)


def _mark(path: str, name: str) -> str:
    """An overlay's mark on a folder in its layer."""
    for start in _OF_ATTRIBUTES:
        with suppress(OSError):
            return os.fsdecode(os.getxattr(path, f"{start}{name}"))
    return ""
