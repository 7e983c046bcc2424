"""Restricts writes to a few folders: nothing outside is written, created or removed (Landlock).

It applies to a process and its descendants, and needs no privileges (Linux 5.13 on). It does not
cover permissions, times and attributes of files.
"""

import ctypes
import os
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
