"""Rebuilds the file system below a folder, with a layer over everything.

Reads see the existing files; writes, removals and renames go into the layer. One overlay covers a
folder with its content, but not mounts below it: those get one each. Where the kernel refuses a
folder because of them (in a user namespace inherited mounts are locked together), the folder is
recreated, and its content is placed there piece by piece.
"""

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from tpudiag.sources.job.process.isolation import system_calls as system
from tpudiag.sources.job.process.isolation.system_calls import beneath, mounts

OPTIONS = (
    # Without `redirect_dir` a folder cannot be renamed; `volatile`: a discarded layer need not be
    # synced to disk.
    "redirect_dir=on,index=off,metacopy=off,volatile",
    "redirect_dir=on,index=off,metacopy=off",
    # In a user namespace marks are kept in user attributes.
    "userxattr,index=off,metacopy=off,volatile",
    "userxattr",
    "index=off",
)
LARGEST_COPIED = 64 * 2**20
"""Bytes of a file in a recreated folder: larger ones are read-only there."""
_SYSTEM = ("/proc", "/sys", "/dev")
"""No real files: mounted unchanged."""


@dataclass(frozen=True)
class Layer:
    """A folder of the user's, and the layer for its changes."""

    path: str
    upper: str
    is_copy: bool = False
    """A recreated folder: its original content is in it, too."""


@dataclass(kw_only=True)
class Layers:
    """The file system below `root`, and its layers in `folder`."""

    root: str
    folder: str
    without_rights: bool
    """Whether this is a user namespace, where some users' files cannot be copied."""
    options: str = ""
    layers: list[Layer] = field(default_factory=list[Layer])
    read_only: list[str] = field(default_factory=list[str])
    """Paths writable outside but not by the job: no layer could be put over them."""
    _table: tuple[str, ...] = ()
    _tried: int = 0

    def build(self, places: Iterable[str], memory_bytes: int) -> None:
        """Build everything; raises OSError where the system does not allow it.

        `places`: folders that the job certainly writes. `memory_bytes`: the memory for layers that
        cannot be on the disk.
        """
        self._table = mounts()
        os.makedirs(self.root, exist_ok=True)
        self._find_way(memory_bytes)
        # The result must be a mount of its own, whatever "/" is.
        self._place("/", self.root)
        for name in _SYSTEM:
            self._system(name)
        self._shared_memory(memory_bytes)
        for place in places:
            self._own_part(place)

    def through(self, path: str) -> None:
        """Let the job write a path for real."""
        try:
            system.bind(path, self.root + path)
        except OSError:  # mounts below cannot be left out in a user namespace
            system.bind(path, self.root + path, below=True)

    def hide(self, path: str) -> None:
        """Show nothing at one of our paths."""
        system.mount("tmpfs", self.root + path, "tmpfs", data="size=4k,mode=0500")

    def _find_way(self, memory_bytes: int) -> None:
        """Find where and how layers work, by testing on an empty folder."""
        # An overlay, such as a container's files, cannot hold another's layer.
        for on_disk in (True, False):
            if not on_disk:
                system.mount("tmpfs", self.folder, "tmpfs", data=f"size={memory_bytes},mode=0700")
            empty = _made(self.folder, "empty")
            for options in OPTIONS:
                self.options = options
                with suppress(OSError):
                    self._overlay(empty, empty, _made(self.folder, "try"))
                    system.unmount(empty)
                    return
        raise OSError("no overlay can be mounted")

    def _place(self, path: str, target: str) -> None:
        """Show a folder or mount at its new place, under a layer."""
        inside = [each for each in beneath(path, self._table) if not _is_system(each)]
        if not os.path.isdir(path):
            _bound_file(path, target)
            return
        try:
            if os.statvfs(path).f_flag & os.ST_RDONLY:
                raise OSError("nothing can be written there")
            self._layered(path, target)
        except OSError:
            if beneath(path, self._table):
                self._anew(path, target)
                return
            system.bind(path, target)
            if os.access(path, os.W_OK) and not os.statvfs(path).f_flag & os.ST_RDONLY:
                self.read_only.append(path)
            system.make_read_only(target)
        for each in inside:
            self._place(each, self.root + each)

    def _layered(self, path: str, target: str) -> None:
        # A folder in which one mount failed cannot be reused.
        self._tried += 1
        folder = _made(self.folder, f"layer-{self._tried}")
        self._overlay(path, target, folder)
        self.layers.append(Layer(path, f"{folder}/upper"))

    def _overlay(self, path: str, target: str, folder: str) -> None:
        upper, work = _made(folder, "upper"), _made(folder, "work")
        _like(path, upper)
        opened = [os.open(each, os.O_PATH | os.O_DIRECTORY) for each in (path, upper, work)]
        try:
            # By descriptors: in a path a colon or comma would end an option.
            lower_, upper_, work_ = (f"/proc/self/fd/{each}" for each in opened)
            data = f"lowerdir={lower_},upperdir={upper_},workdir={work_},{self.options}"
            system.mount("overlay", target, "overlay", data=data)
        finally:
            for each in opened:
                os.close(each)

    def _anew(self, path: str, target: str) -> None:
        system.mount("tmpfs", target, "tmpfs", data="size=25%,mode=0755")
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except OSError:
            entries = []  # unreadable for the job, too
        for entry in entries:
            place = f"{target.rstrip('/')}/{entry.name}"
            with suppress(OSError):
                if entry.is_symlink():
                    os.symlink(os.readlink(entry.path), place)
                elif entry.is_dir():
                    os.mkdir(place)
                    if not _is_system(entry.path):
                        self._place(entry.path, place)
                elif entry.is_file() and entry.stat().st_size <= LARGEST_COPIED:
                    shutil.copy2(entry.path, place)
                else:
                    _bound_file(entry.path, place)
        _like(path, target)
        self.layers.append(Layer(path, target, is_copy=True))

    def _system(self, path: str) -> None:
        if not os.path.isdir(path):
            return
        system.bind(path, self.root + path, below=True)
        if path == "/proc":
            return  # mounted anew where the job gets a process table of its own
        for each in self._table:
            if each == path or each.startswith(path + "/"):
                with suppress(OSError):  # hidden by another
                    # Devices remain writable.
                    system.make_read_only(self.root + each)

    def _shared_memory(self, memory_bytes: int) -> None:
        target = f"{self.root}/dev/shm"
        if not os.path.isdir(target):
            return
        folder = _made(self.folder, "shared-memory")
        system.mount("tmpfs", folder, "tmpfs", data=f"size={memory_bytes},mode=0700")
        try:
            self._overlay("/dev/shm", target, folder)
        except OSError:
            system.mount("tmpfs", target, "tmpfs", data=f"size={memory_bytes},mode=1777")

    def _own_part(self, place: str) -> None:
        """Another layer over the first folder of the user's own on the way to a path.

        In a user namespace others' folders cannot be copied into a layer, so nothing could be
        created below them.
        """
        if not self.without_rights:
            return
        own = _first_own(os.path.realpath(place))
        if own is None or any(own == layer.path for layer in self.layers):
            return
        with suppress(OSError):
            self._layered(own, self.root + own)


def _first_own(place: str) -> str | None:
    """The first folder on the way to a path that this user owns and can write."""
    parts = [part for part in place.split("/") if part]
    for number in range(1, len(parts) + 1):
        folder = "/" + "/".join(parts[:number])
        with suppress(OSError):
            if os.stat(folder).st_uid == os.getuid() and os.access(folder, os.W_OK):
                return folder
    return place if os.access(place, os.W_OK) else None


def _is_system(path: str) -> bool:
    return any(path == name or path.startswith(name + "/") for name in _SYSTEM)


def _made(folder: str, name: str) -> str:
    path = f"{folder}/{name}"
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def _like(path: str, new: str) -> None:
    """Give a new folder the permissions of another, as they apply to this user."""
    there = os.stat(path)
    if os.getuid() == 0:
        with suppress(OSError):
            os.chown(new, there.st_uid, there.st_gid)
    mode = stat.S_IMODE(there.st_mode)
    if os.stat(new).st_uid != there.st_uid:
        # The folder belongs to this user now: rights from group or others become the owner's.
        wanted = ((os.R_OK, 0o400), (os.W_OK, 0o200), (os.X_OK, 0o100))
        mode = mode & ~0o700 | sum(bit for right, bit in wanted if os.access(path, right))
    os.chmod(new, mode)
    os.utime(new, ns=(there.st_atime_ns, there.st_mtime_ns))


def _bound_file(path: str, target: str) -> None:
    if not os.path.lexists(target):
        with open(target, "w", encoding="utf-8"):
            pass
    system.bind(path, target)
    system.make_read_only(target)
