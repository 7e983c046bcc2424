"""Runs a command where some of the system's calls are refused, as in containers.

`python confined.py PROFILE COMMAND...`: `docker` refuses what Docker does by default, and has no
more of root's rights, `mount` refuses mounts alone (as AppArmor does of users without rights),
`userns` new user namespaces, `landlock` all of these and Landlock.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

CALLS = {
    "x86_64": {
        "mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272, "setns": 308,
        "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "mount_setattr": 442,
    },
    "aarch64": {
        "mount": 40, "umount2": 39, "pivot_root": 41, "unshare": 97, "setns": 268,
        "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "mount_setattr": 442,
    },
}  # fmt: skip
CLONE3 = 435
LANDLOCK = {"landlock_create_ruleset": 444}
NEW_USER = 0x10000000
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
LOAD, EQUAL, SET, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER, FIRST_ARGUMENT = 0, 16
DOCKER_HAS = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
"""Of root's rights (capabilities(7)), what Docker leaves a container."""


def filtered(profile: str) -> bytes:
    """The filter of a profile, as instructions of the kernel's packet filter."""
    calls = CALLS[platform.machine()] | {"clone3": CLONE3}
    calls |= LANDLOCK if profile == "landlock" else {}
    program = [(LOAD, 0, 0, NUMBER)]
    if profile == "userns":
        program += [
            (EQUAL, 0, 3, calls["unshare"]),
            (LOAD, 0, 0, FIRST_ARGUMENT),
            (SET, 0, 1, NEW_USER),
            (RETURN, 0, 0, REFUSE | errno.EPERM),
        ]
    refused = {"docker": list(calls), "landlock": list(calls), "mount": ["mount"], "userns": []}
    for name in refused[profile]:
        number = errno.ENOSYS if name == "clone3" else errno.EPERM
        program += [(EQUAL, 0, 1, calls[name]), (RETURN, 0, 0, REFUSE | number)]
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("HBBI", *each) for each in program)


def main() -> None:
    profile, *command = sys.argv[1:]
    program = filtered(profile)
    held = ctypes.create_string_buffer(program)
    wanted = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    bounding_set_drop = 24
    for number in set(range(64)) - set(DOCKER_HAS) if profile == "docker" else ():
        libc.prctl(bounding_set_drop, number, 0, 0, 0)  # refused to a user, who has none
    no_new_privileges, set_filter, by_filter = 38, 22, 2
    assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
    assert libc.prctl(set_filter, by_filter, wanted, 0, 0) == 0, os.strerror(ctypes.get_errno())
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
