"""A view over the existing files: writes go into a folder, removals only hide, and originals are
never touched.

Each path has a place in the folder: /a/b is FOLDER/a/b, gs://bucket/c is FOLDER/gs__/bucket/c. A
place names the same file as its path, so that paths derived from it by a library still work.
"""

import contextlib
import errno
import os
import re
import shutil
import threading
from collections.abc import Callable
from typing import Any

from tpudiag.sources.job.points import barrier

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://")
_PLACED = re.compile(r"/([a-z][a-z0-9+.-]*)__(/.*|$)")
_READ_ONLY = ("file", "http", "https", "ram", "memory", "local")
"""Schemes of paths that are not writable files elsewhere."""
_SYSTEM = ("/dev", "/proc", "/sys")
_SHARED_MEMORY = "/dev/shm"
MOST_COPIED_BYTES = 256 * 2**20
"""Larger files are linked rather than moved, and not copied to be changed."""
_os_stat, _os_lstat = os.stat, os.lstat
"""The originals, before they are redirected."""
inside = threading.local()
"""While `now` is true on this thread, calls are the layer's own and not redirected."""


class Layer:
    """The places of a job's files; `covers` says whether a local path is redirected."""

    def __init__(self, folder: str, covers: Callable[[str], bool] = lambda _: False) -> None:
        self.folder = os.path.realpath(folder)
        self.covers = covers
        self.exists_elsewhere: Callable[[str], bool] = lambda _: False
        """Whether there is something at a remote path."""
        self.fetch: Callable[[str, str], None] = lambda _path, _place: None
        """Copies a remote file to a place."""
        self.on_change: Callable[[str, bool], None] = lambda _path, _removed: None
        """Called with each remote path that is written or removed."""
        self.hosts: tuple[str, ...] = ()
        """Folders of hosts that are missing here, with all below them that a script names."""
        self._left_alone = [self.folder]
        self._hidden: set[str] = set()

    def leave_alone(self, path: str) -> None:
        """Redirect nothing at or below a path."""
        self._left_alone.append(os.path.realpath(path))

    def whole(self, path: object, at: int | None = None) -> str:
        """The absolute path of a redirected file, as the job knows it; else empty.

        `at`: the descriptor of the folder that a relative path starts from.
        """
        text = _text(path)
        if not text:
            return ""
        scheme = _SCHEME.match(text)
        if scheme:
            return "" if scheme[1] in _READ_ONLY else text.rstrip("/")
        if at is not None and not os.path.isabs(text):
            text = os.path.join(os.readlink(f"/proc/self/fd/{at}"), text)
        whole = os.path.abspath(text)
        if _within(whole, self.folder):
            return self._behind(whole)
        system = any(_within(whole, each) for each in _SYSTEM)
        if not self.covers(whole) or (system and not _within(whole, _SHARED_MEMORY)):
            return ""
        # Linked folders give a file several names; the file itself stays.
        head, tail = os.path.split(whole)
        whole = os.path.join(os.path.realpath(head), tail) if tail else whole
        if _within(whole, self.folder):
            return self._behind(whole)
        return "" if any(_within(whole, own) for own in self._left_alone) else whole

    def _behind(self, place: str) -> str:
        """The path of a place; empty where it is none, but a file of the folder's owner."""
        inner = place[len(self.folder) :]
        remote = _PLACED.match(inner)
        if remote:
            return f"{remote[1]}:/{remote[2]}".rstrip("/")
        return inner if inner and self.covers(inner) else ""

    def place(self, whole: str) -> str:
        """The place of an absolute path in the folder."""
        return self.folder + _SCHEME.sub(r"/\1__/", whole, count=1)

    def original(self, path: object) -> object:
        """The script's own path of a redirected one."""
        if not isinstance(path, str) or not _within(path, self.folder):
            return path
        whole = self._behind(path)
        here = os.getcwd() + os.sep
        return whole.removeprefix(here) if whole else path

    def holds(self, path: object) -> bool:
        """Whether something was written at a path."""
        whole = self.whole(path)
        return bool(whole) and _there(self.place(whole))

    @property
    def hidden_files(self) -> int:
        """How many local files were removed or moved, a folder counted once."""
        return sum("://" not in path for path in self._hidden)

    def is_hidden(self, whole: str) -> bool:
        """Whether an existing path was removed, as the job sees it."""
        return any(_within(whole, gone) for gone in self._hidden)

    def is_below(self, whole: str) -> bool:
        """Whether a path itself exists and is still visible to the job."""
        if self.is_hidden(whole):
            return False
        return self.exists_elsewhere(whole) if _SCHEME.match(whole) else _there(whole)

    def read(self, path: object, at: int | None = None) -> object:
        """What to read instead of a path."""
        whole = self.whole(path, at)
        if not whole:
            return path
        place = self.place(whole)
        if _there(place) or self.is_hidden(whole):
            return _like(path, place)
        return _like(path, whole) if _within(_text(path), self.folder) else path

    def followed(self, path: object, at: int | None = None) -> object:
        """The target of a link of the user's own."""
        whole = self.whole(path, at)
        if not whole or self.is_hidden(whole) or _there(self.place(whole)):
            return path
        return _like(path, os.path.realpath(whole)) if os.path.islink(whole) else path

    def entered(self, path: object, at: int | None = None) -> object:
        """The folder to enter: the original one, for code whose calls are not redirected."""
        whole = self.whole(path, at)
        return self.read(path, at) if whole and not self.is_below(whole) else path

    def written(self, path: object, at: int | None = None) -> str:
        """As `whole`, of what is to be written, changed or removed."""
        return self.whole(path, at)

    def made(self, path: object, at: int | None = None) -> object:
        """Where to write instead of a path, whatever existed."""
        whole = self.written(path, at)
        if not whole:
            return path
        place = self.place(whole)
        if os.path.islink(place) and not _within(os.path.realpath(place), self.folder):
            os.unlink(place)
        self._make_parent(whole, place)
        return _like(path, place)

    def changed(self, path: object, at: int | None = None) -> object:
        """Where to change a file: an existing one is copied first."""
        whole = self.written(path, at)
        if not whole:
            return path
        place = self.place(whole)
        if not _there(place) or os.path.islink(place):
            self.made(whole)
            if self.is_below(whole) and not self._copied(whole, place):
                return path
        return _like(path, place)

    def _make_parent(self, whole: str, place: str) -> None:
        """The folder of a place, where the job sees one; in a bucket and on a host there is one."""
        parent = os.path.dirname(whole)
        seen = (self.place(parent), *(() if self.is_hidden(parent) else (parent,)))
        remote = _SCHEME.match(whole) or whole.startswith(self.hosts)
        if remote or any(map(os.path.isdir, seen)):
            os.makedirs(os.path.dirname(place), exist_ok=True)

    def _copied(self, whole: str, place: str) -> bool:
        """Whether the original is now in the folder, too."""
        if _SCHEME.match(whole):
            self.fetch(whole, place)
        elif os.path.isdir(whole):
            os.makedirs(place, exist_ok=True)
        elif os.path.islink(whole):
            os.symlink(os.path.join(os.path.dirname(whole), os.readlink(whole)), place)
        elif _os_stat(whole).st_size <= MOST_COPIED_BYTES:
            shutil.copy2(whole, place)
        else:
            return False
        return True

    def names(self, path: object) -> list[str] | None:
        """A folder's names as the job sees them; None where they are all in one place."""
        whole = self.whole(self.followed(path))
        if not whole or _SCHEME.match(whole):
            return None
        place = self.place(whole)
        if not os.path.isdir(place) and (
            self.is_hidden(whole) or not any(_within(each, whole) for each in self._hidden)
        ):
            return None
        names: dict[str, None] = {}
        if os.path.isdir(place):
            names.update(dict.fromkeys(os.listdir(place)))
        if not self.is_hidden(whole) and os.path.isdir(whole):
            there = (n for n in os.listdir(whole) if f"{whole.rstrip('/')}/{n}" not in self._hidden)
            names.update(dict.fromkeys(there))
        return list(names)

    def moved(self, path: object, at: int | None = None) -> object:
        """The source of a file or folder that is renamed; an existing original is hidden."""
        whole = self.written(path, at)
        if not whole:
            return path
        if self.is_below(whole):
            self._copy_tree(whole)
            self._hidden.add(whole)
        return _like(path, self.place(whole))

    def _copy_tree(self, whole: str) -> None:
        place = self.place(whole)
        self._make_parent(whole, place)
        if not _there(place) and not self._copied(whole, place):
            os.symlink(whole, place)
        if not _SCHEME.match(whole) and os.path.isdir(whole) and not os.path.islink(whole):
            for name in os.listdir(whole):
                below = f"{whole}/{name}"
                if not self.is_hidden(below):
                    self._copy_tree(below)

    def removed(
        self, path: object, remove: Callable[[object], object], is_folder: bool | None
    ) -> object:
        """Remove, in the job's view, a file (`is_folder` False), empty folder (True), tree (None).

        `remove` deletes what the job wrote itself.
        """
        whole = self.written(path)
        place = self.place(whole)
        is_remote, written = bool(_SCHEME.match(whole)), _there(place)
        # Do not check whether a remote path exists: that may take minutes.
        below = is_remote or self.is_below(whole)
        if below and is_folder is not None and not is_remote:
            self._refuse(path, whole, is_folder)
        if below:
            self._hidden.add(whole)
        if is_remote and not written:
            self.on_change(whole, True)
            return None
        return remove(_like(path, place)) if written or not below else None

    def _refuse(self, path: object, whole: str, is_folder: bool) -> None:
        """Raise the system's error for a folder that is no file, or is not empty."""
        really = os.path.isdir(whole) and not os.path.islink(whole)
        names = self.names(whole)
        if really and not is_folder:
            number = errno.EISDIR
        elif is_folder and not really:
            number = errno.ENOTDIR
        elif is_folder and (os.listdir(whole) if names is None else names):
            number = errno.ENOTEMPTY
        else:
            return
        raise barrier.for_job(OSError(number, os.strerror(number), path))


def is_elsewhere(path: object) -> bool:
    """Whether a path may be outside this machine: a bucket's, or one not known yet."""
    if path is None or isinstance(path, int):
        return False
    text = _text(path)
    scheme = _SCHEME.match(text)
    return not text if scheme is None else scheme[1] not in _READ_ONLY


def _text(path: Any) -> str:
    """A path as text, empty for anything else, such as a file descriptor."""
    if isinstance(path, (str, bytes)) or hasattr(path, "__fspath__"):
        with contextlib.suppress(UnicodeError, TypeError):
            return os.fsdecode(path)
    return ""


def _like(path: object, text: str) -> object:
    """A path as text, or as bytes where it was given so."""
    if isinstance(path, bytes):
        return os.fsencode(text)
    return text + "/" if isinstance(path, str) and path.endswith("/") else text


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _there(path: str) -> bool:
    """Whether a file, a folder or a checkpoint of this name exists."""
    # A checkpoint `ckpt-3` is no file: it consists of ckpt-3.index and ckpt-3.data-00000-of-00001.
    for name in (path, path + ".index"):
        with contextlib.suppress(OSError, ValueError):
            _os_lstat(name)
            return True
    return False
