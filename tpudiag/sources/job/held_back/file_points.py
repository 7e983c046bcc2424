"""The calls that name files, and what each does to the file that an argument names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Effect(Enum):
    """What a call does to the file that an argument names."""

    READ = "read"
    ENTERED = "entered"
    MADE = "made"
    CHANGED = "changed"
    MOVED = "moved"
    FILE_GONE = "file gone"
    FOLDER_GONE = "folder gone"
    TREE_GONE = "tree gone"
    LINKED = "linked"
    """What a link leads to; the argument behind it is the link."""
    WRITTEN = "written"
    """As made, and it is a file."""
    LISTED = "listed"
    ENTRIES = "entries"
    OPENED = "opened"
    """By the argument behind it: a mode or flags."""
    NAMED = "named"
    """The call gives paths, by calls that are redirected: those of what the job wrote as their
    places, for code that no call is redirected of."""
    TOLD = "told"
    """The call gives a path."""
    CHILDREN = "children"
    """As listed, of a folder that may be remote."""
    MATCHES = "matches"
    """The names that match a pattern."""
    PATTERN = "pattern"
    """A pattern that goes on into an operation, or several."""


@dataclass(frozen=True)
class Argument:
    """One argument of a call, by its place and its name."""

    index: int
    name: str
    effect: Effect
    at: str = "dir_fd"
    """The argument that gives the folder which a relative path begins in."""


@dataclass(frozen=True)
class Point:
    """Calls of one module, or of a class in it, and the arguments that name files."""

    module: str
    names: tuple[str, ...]
    arguments: tuple[Argument, ...]


def point(module: str, names: str, *arguments: tuple[str, Effect], first: int = 0) -> Point:
    """Calls whose first arguments name files; the first of all is that of number `first`."""
    ats = ("src_dir_fd", "dst_dir_fd") if len(arguments) > 1 else ("dir_fd",)
    named = (
        Argument(index, name, effect, ats[min(index - first, len(ats) - 1)])
        for index, (name, effect) in enumerate(arguments, first)
    )
    return Point(module, tuple(names.split()), tuple(named))


PYTHON = (
    point("builtins", "open", ("file", Effect.OPENED)),
    point("io", "open", ("file", Effect.OPENED)),  # as pathlib opens a file
    point("tarfile", "bltn_open", ("file", Effect.OPENED)),
    point("bz2", "_builtin_open", ("file", Effect.OPENED)),
    point("os", "open", ("path", Effect.OPENED)),
    point("os", "stat lstat access readlink statvfs", ("path", Effect.READ)),
    point("os", "chdir", ("path", Effect.ENTERED)),
    point("os", "getcwd", ("", Effect.TOLD)),
    point("os", "chmod chown lchown utime truncate setxattr removexattr", ("path", Effect.CHANGED)),
    point("os", "mkdir mkfifo mknod", ("path", Effect.MADE)),
    point("os", "remove unlink", ("path", Effect.FILE_GONE)),
    point("os", "rmdir", ("path", Effect.FOLDER_GONE)),
    point("os", "rename replace", ("src", Effect.MOVED), ("dst", Effect.MADE)),
    point("os", "link", ("src", Effect.CHANGED), ("dst", Effect.MADE)),
    point("os", "symlink", ("src", Effect.LINKED)),
    point("os", "listdir", ("path", Effect.LISTED)),
    point("os", "scandir", ("path", Effect.ENTRIES)),
    point("os", "walk", ("top", Effect.NAMED)),
    point("glob", "glob iglob", ("", Effect.NAMED)),
    point("pathlib:Path", "glob rglob iterdir", ("", Effect.NAMED)),
    point("shutil", "rmtree", ("path", Effect.TREE_GONE)),
)
"""Python's own."""
BY_C_CODE = (
    point("sqlite3", "connect", ("database", Effect.CHANGED)),
    point("sqlite3.dbapi2", "connect", ("database", Effect.CHANGED)),
    point("h5py._hl.files:File", "__init__", ("name", Effect.OPENED), first=1),
)
"""Of libraries that open files by code of their own; others meet the wall, where there is one."""
