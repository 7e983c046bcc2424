"""Restricts writes to a few folders: nothing outside is written, created or removed (Landlock).

It applies to a process and its descendants, and needs no privileges (Linux 5.13 on). Of
permissions, times and attributes of files, which it does not cover, a filter of system calls does.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable
from contextlib import suppress

from tpudiag.sources.job.process.isolation import system_calls as system

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_WRITE_FILE, _REFER, _TRUNCATE = 1 << 1, 1 << 13, 1 << 14
_CHANGES = sum(1 << bit for bit in (1, *range(4, 13)))
"""Writing files, and removing and creating folder entries of every kind."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts")
SHARED_MEMORY = "/dev/shm"


KNOWS_TRUNCATION = 3
"""The version from which on truncation is covered."""
_SIGNALS = 1 << 1
"""To processes outside (Linux 6.12)."""


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def version() -> int:
    """The system's Landlock version; raises OSError where it has none."""
    return system.system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))


def wall(*folders: str) -> None:
    """Restrict changes of files by this process and its descendants to these folders.

    And keep it from sending signals to other processes, where the system supports that.
    """
    known = version()
    handled = (
        _CHANGES | (_REFER if known >= 2 else 0) | (_TRUNCATE if known >= KNOWS_TRUNCATION else 0)
    )
    # Fields unknown to an older kernel may follow as zeros.
    rules = _Ruleset(handled, 0, _SIGNALS if known >= 6 else 0)
    ruleset = system.system_call(
        _CREATE_RULESET,
        ctypes.byref(rules),
        ctypes.c_size_t(ctypes.sizeof(_Ruleset)),
        ctypes.c_uint32(0),
    )
    try:
        _allow(ruleset, (*folders, SHARED_MEMORY), handled)
        _allow(ruleset, DEVICES, handled & (_WRITE_FILE | _TRUNCATE))
        system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
        system.system_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, paths: Iterable[str], access: int) -> None:
    for path in paths:
        with suppress(FileNotFoundError):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                system.system_call(
                    _ADD_RULE,
                    ctypes.c_int(ruleset),
                    ctypes.c_int(_PATH_BENEATH),
                    ctypes.byref(_Beneath(access, opened)),
                    ctypes.c_uint32(0),
                )
            finally:
                os.close(opened)


_EVERYWHERE = (452, 463, 466)  # fchmodat2, setxattrat, removexattrat
_MACHINES = {
    # By the audit's number of an architecture: chmod, fchmod, fchmodat; chown, fchown, lchown,
    # fchownat; utime, utimes, futimesat, utimensat; setxattr, removexattr, by l and by f; ioctl.
    "x86_64": (0xC000003E, (90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280), range(188, 191),
               range(197, 200), 16),
    "aarch64": (0xC00000B7, (52, 53, 54, 55, 88), range(5, 8), range(14, 17), 29),
}  # fmt: skip
_SETS_FLAGS = (0x40086602, 0x40046602, 0x401C5820)
"""Requests of ioctl: FS_IOC_SETFLAGS, its 32-bit form, FS_IOC_FSSETXATTR."""
_TRUNCATES = {"x86_64": 76, "aarch64": 45}
"""By path: Landlock covers it from its third version on (Linux 6.2)."""
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _ARCHITECTURE, _SECOND_ARGUMENT = 0, 4, 24
_ALLOW, _DONE = 0x7FFF0000, 0x00050000
_DENIED = _DONE | errno.EACCES
_SET_SECCOMP, _BY_FILTER = 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def keep_attributes(*, no_truncation: bool = False) -> None:
    """Keep permissions, owners, times and attributes of any file; raises OSError.

    A filter of system calls (seccomp) answers each change as done, for this process and its
    descendants. Needs PR_SET_NO_NEW_PRIVS. `no_truncation`: files cannot be truncated by path,
    either.
    """
    if platform.machine() not in _MACHINES:
        return
    instructions = b"".join(struct.pack("HBBI", *each) for each in _filter(no_truncation))
    held = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(len(instructions) // 8, ctypes.addressof(held))
    system.prctl(_SET_SECCOMP, _BY_FILTER, ctypes.addressof(program))


def _filter(no_truncation: bool) -> list[tuple[int, int, int, int]]:
    architecture, plain, sets, removes, ioctl = _MACHINES[platform.machine()]
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for number in (*plain, *sets, *removes, *_EVERYWHERE):
        program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _DONE)]
    if no_truncation:
        program += [(_EQUAL, 0, 1, _TRUNCATES[platform.machine()]), (_RETURN, 0, 0, _DENIED)]
    program += [(_EQUAL, 1, 0, ioctl), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _SECOND_ARGUMENT)]
    for request in _SETS_FLAGS:
        program += [(_EQUAL, 0, 1, request), (_RETURN, 0, 0, _DONE)]
    return [*program, (_RETURN, 0, 0, _ALLOW)]
