"""File changes that Landlock does not cover: permissions, owners, times and attributes.

A filter of system calls (seccomp, which needs no privileges) answers each as done, without an
effect: for a process and its descendants, on any file.
"""

import ctypes
import errno
import platform
import struct

from tpudiag.sources.job.process.isolation import system_calls as system

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
_TRUNCATE = {"x86_64": 76, "aarch64": 45}
"""By path: Landlock covers it from its third version on (Linux 6.2)."""
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _ARCHITECTURE, _SECOND_ARGUMENT = 0, 4, 24
_ALLOW, _DONE = 0x7FFF0000, 0x00050000
_DENIED = _DONE | errno.EACCES
_SET_SECCOMP, _BY_FILTER = 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def keep(*, no_truncation: bool = False) -> None:
    """Keep this process and its descendants from changing them; raises OSError.

    Needs PR_SET_NO_NEW_PRIVS. `no_truncation`: files cannot be truncated by path, either.
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
        program += [(_EQUAL, 0, 1, _TRUNCATE[platform.machine()]), (_RETURN, 0, 0, _DENIED)]
    program += [(_EQUAL, 1, 0, ioctl), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _SECOND_ARGUMENT)]
    for request in _SETS_FLAGS:
        program += [(_EQUAL, 0, 1, request), (_RETURN, 0, 0, _DONE)]
    return [*program, (_RETURN, 0, 0, _ALLOW)]
