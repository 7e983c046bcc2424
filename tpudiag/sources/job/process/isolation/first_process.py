"""The process that starts the job, and is the first of its process table where it has its own.

When the first process of a table ends, the kernel kills all others in it.
"""

import os
import signal
import socket
import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from fcntl import ioctl
from typing import NoReturn

from tpudiag.sources.job.process.isolation import system_calls as system
from tpudiag.sources.job.process.isolation.launch import Launch

HARMFUL_RIGHTS = (
    *(12, 14, 16, 17, 18, 19, 20, 21, 22, 25, 26, 27),
    *(30, 32, 33, 34, 35, 37, 38, 39, 40),
)
"""Root's capabilities beyond files: network and kernel settings, raw devices, mounts,
other processes, the clock, reboots (numbers of capabilities(7))."""
CHOSEN_BY_THE_KERNEL_FIRST = 900
"""`oom_score_adj`: where memory is short the job is killed before the user's other processes."""
ENDED, FAILED = b"E", b"F"
"""The first byte of a message to the launcher: how the job ended, or why it did not start."""
_IFF_UP = 1
_SIOCSIFFLAGS = 0x8914


def run(launch: Launch, root: str | None, status: int) -> None:
    """Move below `root`, start the job and report its end through `status`; ends this process.

    It is the first of a process table of its own.
    """
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        enter(launch, root)
        if not launch.command:
            _tried(launch.working)
            os._exit(0)
        pid = started(launch, status)
    except OSError as error:
        failed(status, error)
    for descriptor in launch.passed:
        os.close(descriptor)

    # A first process receives only those signals from outside that it handles.
    def pass_on(_number: int, _frame: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, pass_on)
    while True:
        ended, how = os.wait()
        if ended == pid:
            os.write(status, ENDED + struct.pack("i", how))
            os._exit(0)


def enter(launch: Launch, root: str | None) -> None:
    """Make the file system below `root` this process's own; raises OSError."""
    if launch.offline:
        with socket.socket() as any_socket:
            ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))
    if root is None:
        return
    system.unshare(system.CLONE_NEWNS)
    if launch.own_processes:
        proc = f"{root}/proc"
        system.mount("proc", proc, "proc", system.MS_NOSUID | system.MS_NODEV | system.MS_NOEXEC)
        for name in ("sys", "sysrq-trigger", "irq", "bus"):
            with suppress(OSError):
                system.bind(f"{proc}/{name}", f"{proc}/{name}")
                system.make_read_only(f"{proc}/{name}")
    system.change_root(root)
    os.chdir(launch.working)
    for number in HARMFUL_RIGHTS:
        with suppress(OSError):  # of a newer kernel, or not permitted
            system.prctl(system.PR_CAPBSET_DROP, number)


def started(launch: Launch, status: int, before: Callable[[], None] = lambda: None) -> int:
    """The pid of the job; `before` is called in its process, and may raise OSError."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write(str(CHOSEN_BY_THE_KERNEL_FIRST))
        before()
        if not launch.command:
            _tried(launch.working if launch.isolation == "overlay" else launch.folder)
            os._exit(0)
        os.execvp(launch.command[0], launch.command)
    except OSError as error:
        failed(status, error)
    finally:
        os._exit(127)


def failed(status: int, error: OSError) -> NoReturn:
    """Report why the job could not be started, and end this process."""
    os.write(status, FAILED + f"{error.strerror or error}: {error.filename}".encode())
    os._exit(127)


def _tried(folder: str) -> None:
    if os.access(folder, os.W_OK):
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".tpudiag-"):
            pass
