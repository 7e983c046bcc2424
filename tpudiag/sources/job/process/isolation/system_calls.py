"""System calls without a Python function: namespaces and mounts (Linux)."""

import ctypes
import os
import platform
import re
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_NOATIME, MS_NODIRATIME = 32, 1024, 2048
MS_BIND, MS_REC, MS_PRIVATE, MS_RELATIME = 4096, 16384, 1 << 18, 1 << 21
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "ppc64le": 203, "s390x": 217, "riscv64": 41}
_KEPT_FLAGS = (
    (os.ST_NOSUID, MS_NOSUID), (os.ST_NODEV, MS_NODEV), (os.ST_NOEXEC, MS_NOEXEC),
    (os.ST_NOATIME, MS_NOATIME), (os.ST_NODIRATIME, MS_NODIRATIME), (os.ST_RELATIME, MS_RELATIME),
)  # fmt: skip
"""Flags of a mount that a user namespace may not remove from an inherited one."""

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Move to new namespaces of these kinds; raises OSError."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount a file system; raises OSError."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        os.fsencode(data) or None,
    )
    _checked(result, target)


def bind(source: str, target: str, *, below: bool = False) -> None:
    """Show `source` at `target` as well; `below`: including mounts below it."""
    mount(source, target, flags=MS_BIND | (MS_REC if below else 0))


def make_read_only(target: str) -> None:
    """Make a mount read-only; raises OSError."""
    now = os.statvfs(target).f_flag
    kept = sum(flag for seen, flag in _KEPT_FLAGS if now & seen)
    mount("none", target, flags=MS_REMOUNT | MS_BIND | MS_RDONLY | kept)


def unmount(target: str) -> None:
    """Remove a mount as soon as it is unused."""
    _checked(_libc.umount2(os.fsencode(target), MNT_DETACH), target)


def change_root(folder: str) -> None:
    """Make a mount the root of this process's mount namespace, and drop the old one."""
    os.chdir(folder)
    number = _PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(f"pivot_root is not known on {platform.machine()}")
    # The old root is stacked on the new one, from where it can be unmounted.
    _checked(_libc.syscall(number, b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


def prctl(option: int, value: int, third: int = 0) -> None:
    """Set an attribute of this process; raises OSError."""
    _checked(_libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(third), 0, 0), "prctl")


def system_call(number: int, *arguments: object) -> int:
    """A call by its number; raises OSError."""
    return _checked(int(_libc.syscall(number, *arguments)), f"system call {number}")


def _checked(result: int, name: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return result


def mounts() -> tuple[str, ...]:
    """The paths of all mounts visible to this process; one over another comes later."""
    table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    found: dict[str, None] = {}
    for line in table.splitlines():
        path = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), line.split(" ")[4])
        found.pop(path, None)
        found[path] = None
    # Another user's FUSE mount is not accessible.
    return tuple(filter(os.path.lexists, found))


def beneath(folder: str, table: tuple[str, ...]) -> tuple[str, ...]:
    """The outermost mounts below a folder."""

    def below(path: str, of: str) -> bool:
        return path != of and path.startswith(of.rstrip("/") + "/")

    inside = [path for path in table if below(path, folder)]
    return tuple(path for path in inside if not any(below(path, other) for other in inside))
